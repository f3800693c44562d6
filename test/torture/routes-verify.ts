import type { TaskId } from "../../src/domain/ids.ts";
import type { Attempt, Task } from "../../src/domain/task/task.ts";
import { openAudit } from "../../src/store/audit.ts";
import type { Findings } from "./findings.ts";
import { DEADLINE_MS } from "./routes-service.ts";
import type { RoutesWatch, TaskSeen } from "./routes-watch.ts";

/** How tasks ended, by status or error code. */
export type RoutesTally = Readonly<Record<string, number>>;

/** A task is asked for a few times after its deadline, with growing delays, and answers may be slow; the service may be down. */
const LATE_MS = 300_000;

/** Compares what the service says of its tasks with what was seen of them from outside. */
export async function verifyRoutes(
  given: {
    readonly accepted: readonly TaskId[];
    readonly database: string;
    readonly read: (id: TaskId) => Promise<Task | undefined>;
    readonly attempts: (id: TaskId) => Promise<readonly Attempt[]>;
    readonly watch: RoutesWatch;
  },
  findings: Findings,
): Promise<RoutesTally> {
  const tally: Record<string, number> = {};
  for (const id of given.accepted) {
    const task = await given.read(id);
    const end = task?.error?.code ?? task?.status ?? "lost";
    tally[end] = (tally[end] ?? 0) + 1;
    const seen = given.watch.tasks.get(id);
    if (seen === undefined) throw new Error(`Nothing is known of ${id}.`);
    const attempts = end === "completed" ? [] : await given.attempts(id);
    checkEnd(id, end, seen, { findings, detail: attempts.at(-1)?.detail });
  }
  const audit = openAudit({ path: given.database });
  const { differences } = await audit.run();
  audit.stop();
  for (const { check, taskId, stored, expected } of differences)
    findings.add(`the books differ: ${check} of ${taskId}: ${stored} is stored and ${expected} expected`);
  return tally;
}

function checkEnd(
  id: TaskId,
  end: string,
  seen: TaskSeen,
  { findings, detail = "no detail" }: { findings: Findings; detail: string | undefined },
): void {
  const how = `${id} (${seen.lanes.join(", ") || "never sent"})`;
  const isOver = end === "completed" || end === "failed" || end.toUpperCase() === end;
  findings.check(isOver, () => `${how} is ${end} in the end`);
  findings.check(seen.ends <= 1, () => `${how} ended ${seen.ends} times`);
  const { begunAt, endedAt } = seen;
  const tookMs = begunAt === undefined || endedAt === undefined ? 0 : endedAt - begunAt;
  findings.check(tookMs <= DEADLINE_MS + LATE_MS, () => `${how} took ${Math.round(tookMs / 1000)} s`);
  if (end === "completed") return;
  findings.check(end !== "CONTENT_MODERATED" || seen.isModerated, () => `${how} was not refused by anybody`);
  // The contract's own exceptions: what is refused for its content, and what an upstream that cannot be asked may have taken.
  const mayFail = seen.isModerated || seen.isLost || !seen.isAble;
  findings.check(mayFail, () => `${how} ended with ${end} while an account was well: ${detail}`);
}
