import type { WatchedTask } from "./task.ts";

/** A bar of the throughput. */
export const BAR_SEC = 10;
const MAX_BARS = 60;
/** Durations of a model that are remembered. */
const MAX_DURATIONS = 100;

/** How fast tasks end: how many in each ten seconds, and how long each model takes. */
export interface Pace {
  /** Ends by the number of their ten seconds. */
  readonly ends: ReadonlyMap<number, number>;
  /** Seconds from create to end, the latest last, by model. */
  readonly durations: ReadonlyMap<string, readonly number[]>;
}

export const NO_PACE: Pace = { ends: new Map(), durations: new Map() };

/** Counts tasks that ended. @param ended each task only once */
export function withEnds(pace: Pace, ended: readonly WatchedTask[]): Pace {
  if (ended.length === 0) return pace;
  const [ends, durations] = [new Map(pace.ends), new Map(pace.durations)];
  for (const { completedAt, createdAt, model, status } of ended) {
    if (completedAt === undefined) continue;
    const bar = Math.floor(completedAt / BAR_SEC);
    ends.set(bar, (ends.get(bar) ?? 0) + 1);
    if (status !== "completed") continue;
    const before = durations.get(model) ?? [];
    durations.set(model, [...before.slice(1 - MAX_DURATIONS), completedAt - createdAt]);
  }
  // A watch may go on for weeks.
  const oldest = Math.max(...ends.keys()) - MAX_BARS;
  for (const bar of ends.keys()) if (bar < oldest) ends.delete(bar);
  return { ends, durations };
}

/** Ends in each ten seconds, up to now. */
export function barsOf({ ends }: Pace, nowMs: number): number[] {
  const last = Math.floor(nowMs / 1000 / BAR_SEC);
  return Array.from({ length: MAX_BARS }, (_, i) => ends.get(last - MAX_BARS + 1 + i) ?? 0);
}

/** Ends in the last minute. */
export function endsPerMinute(pace: Pace, nowMs: number): number {
  return barsOf(pace, nowMs)
    .slice(-60 / BAR_SEC)
    .reduce((sum, count) => sum + count, 0);
}

/** Seconds until a task should end, by the median of its model's; undefined while no task of the model has. */
export function secondsLeft(pace: Pace, task: WatchedTask, nowMs: number): number | undefined {
  const durations = (pace.durations.get(task.model) ?? []).toSorted((a, b) => a - b);
  const median = durations[Math.floor(durations.length / 2)];
  if (median === undefined || task.hasEnded) return undefined;
  return Math.max(0, Math.round(median - (nowMs / 1000 - task.createdAt)));
}
