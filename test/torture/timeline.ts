import type { TaskId } from "../../src/domain/ids.ts";
import type { World } from "./time-world.ts";

/** What is known of a task, in true time. */
export interface TaskLine {
  readonly begunAt: number;
  askedAt: number;
  endedAt?: number;
}

export type Timeline = ReturnType<typeof createTimeline>;

/** When the service could work, and when it did something for each task. */
export function createTimeline(world: World) {
  const outages: { readonly from: number; to: number }[] = [];
  const tasks = new Map<TaskId, TaskLine>();
  /** Reasons for which it cannot work now: it may be down on a full disk. */
  let reasons = 0;
  let asked = 0;
  let standstill = { ms: 0, task: "none" };

  /** Time between two moments in which the service could work. */
  function workableMs(from: number, to: number): number {
    let ms = to - from;
    for (let i = outages.length - 1; i >= 0; i--) {
      const outage = outages[i];
      if (outage === undefined || outage.to <= from) break;
      ms -= Math.max(0, Math.min(to, outage.to) - Math.max(from, outage.from));
    }
    return ms;
  }

  function look(id: TaskId, line: TaskLine): void {
    const ms = workableMs(line.askedAt, world.trueMs());
    if (ms > standstill.ms) standstill = { ms, task: id };
    line.askedAt = world.trueMs();
  }

  return {
    workableMs,
    fails(): void {
      reasons += 1;
      if (reasons === 1) outages.push({ from: world.trueMs(), to: Number.POSITIVE_INFINITY });
    },
    works(): void {
      reasons -= 1;
      const last = outages.at(-1);
      if (reasons === 0 && last !== undefined) last.to = world.trueMs();
    },
    /** The upstream was asked about a task, or for it. */
    asked(id: TaskId): void {
      asked += 1;
      const line = tasks.get(id);
      if (line !== undefined) look(id, line);
      else tasks.set(id, { begunAt: world.trueMs(), askedAt: world.trueMs() });
    },
    ended(id: TaskId): void {
      const line = tasks.get(id);
      if (line === undefined) return;
      look(id, line);
      line.endedAt = world.trueMs();
    },
    of: (id: TaskId): TaskLine | undefined => tasks.get(id),
    summary: () => ({ asked, outages: outages.length, standstill }),
  };
}
