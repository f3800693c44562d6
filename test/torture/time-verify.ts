import type { TaskId } from "../../src/domain/ids.ts";
import type { Task } from "../../src/domain/task/task.ts";
import type { Findings } from "./findings.ts";
import { DEADLINE_MS } from "./time-service.ts";
import type { Job } from "./time-upstream.ts";
import type { Timeline } from "./timeline.ts";

/** How tasks ended, by status or error code. */
export type TimeTally = Readonly<Record<string, number>>;

/** Beats come every five seconds, and outages are noticed within two more: so much may be taken for worked time, or not. */
const BLUR_MS = 10_000;
/** After the deadline the task is asked for up to five times, with growing delays, and answers may be slow. */
const LATE_MS = 180_000;
/** The longest delay, a lease that must end first, and a slow answer. */
const LONGEST_STANDSTILL_MS = 120_000;

/** Compares what the service says of its tasks with what the upstream knows of them. */
export async function verifyTime(
  accepted: readonly TaskId[],
  read: (id: TaskId) => Promise<Task | undefined>,
  truth: { readonly jobs: readonly Job[]; readonly timeline: Timeline; readonly endsAt: number },
  findings: Findings,
): Promise<TimeTally> {
  const { timeline } = truth;
  const jobsOf = Map.groupBy(truth.jobs, ({ task }) => task);
  const tally: Record<string, number> = {};
  for (const id of accepted) {
    const task = await read(id);
    const end = task?.error?.code ?? task?.status ?? "lost";
    tally[end] = (tally[end] ?? 0) + 1;
    const jobs = jobsOf.get(id) ?? [];
    findings.check(jobs.length <= 1, () => `${id} was made ${jobs.length} times`);
    const [job] = jobs;
    const resent = job !== undefined && task?.model !== "keyed" ? job.submissions : 1;
    findings.check(
      resent === 1,
      () => `${id} was submitted ${resent} times to an upstream that takes no key`,
    );
    const isFinished = job !== undefined && job.readyAt < truth.endsAt;
    // One that was refused five times in a row ends with the reason, and was never made.
    const wanted = isFinished ? "completed" : job === undefined ? "UPSTREAM_ERROR" : "DEADLINE_EXCEEDED";
    findings.check(end === wanted, () => `${id} (${task?.model}) is ${end}, and should be ${wanted}`);
    if (end === "DEADLINE_EXCEEDED") checkDeadline(id, timeline, findings);
  }
  const { standstill } = timeline.summary();
  findings.check(
    standstill.ms <= LONGEST_STANDSTILL_MS,
    () => `${standstill.task} stood still for ${Math.round(standstill.ms / 1000)} s of time to work`,
  );
  return tally;
}

/** A task that never ends upstream has its deadline of time in which the service could work: not less, and little more. */
function checkDeadline(id: TaskId, timeline: Timeline, findings: Findings): void {
  const line = timeline.of(id);
  if (line?.endedAt === undefined) throw new Error(`${id} ended without having begun`);
  const { begunAt, endedAt } = line;
  const workedMs = timeline.workableMs(begunAt, endedAt);
  const worked = () => `${id} ended by its deadline after ${Math.round(workedMs / 1000)} s of time to work`;
  findings.check(workedMs >= DEADLINE_MS - BLUR_MS, worked);
  findings.check(workedMs <= DEADLINE_MS + LATE_MS, worked);
}
