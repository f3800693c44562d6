import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { Output } from "../format/output.ts";
import { printable } from "../format/printable.ts";
import { formatDuration } from "../format/units.ts";
import { issuesOf, resultUrls, type TaskView } from "./answer.ts";
import type { Remote } from "./remote.ts";
import { createReport } from "./report.ts";
import { type Saving, saveResults } from "./saved.ts";
import { awaitTask, resumeHint, verdictOf, type WaitOptions } from "./wait.ts";

export interface FollowOptions extends Pick<WaitOptions, "kind" | "id" | "timeoutMs"> {
  /** Absent: results are not saved. */
  readonly saving?: Saving | undefined;
}

/**
 * Waits for a task and prints its end: its `data` under --json, otherwise the URLs or the saved files, one a line.
 *
 * @throws Failure when it did not complete (3, 9, 10), after the task itself was printed
 */
export async function follow(
  remote: Remote,
  context: Context,
  output: Output,
  options: FollowOptions,
): Promise<void> {
  const { timing, signal, client } = remote;
  const { id, kind, timeoutMs, saving } = options;
  const startedAt = timing.now();
  const report = await createReport(context, output, { id, elapsedMs: () => timing.now() - startedAt });
  const task = await awaitTask(client, { id, kind, timeoutMs, timing, signal, ...report })
    .catch((error: unknown) => {
      throw withResumeHint(error, id);
    })
    .finally(report.stop);
  const verdict = verdictOf(task, timeoutMs);
  if (verdict === undefined) {
    const cost = costOf(task);
    const took = formatDuration(timing.now() - startedAt);
    output.done(`${id} completed in ${took}${cost === undefined ? "" : ` · ${cost}`}`);
    for (const issue of issuesOf(task)) output.say(`Missing: ${issue}`);
  }
  if (verdict === undefined && saving !== undefined) {
    await saveResults(remote, context, output, { task, shown: task, saving });
  } else output.show(task, () => linesOf(resultUrls(task)));
  if (verdict !== undefined) throw verdict;
}

const linesOf = (texts: readonly string[]): string => texts.map((text) => `${printable(text)}\n`).join("");

export function costOf({ usage }: TaskView): string | undefined {
  if (typeof usage !== "object" || usage === null || !("cost" in usage)) return undefined;
  return printable(`${String(usage.cost)} ${"currency" in usage ? String(usage.currency) : ""}`.trim());
}

/** The reasons to stop waiting after which the task continues. */
const RESUMABLE: readonly number[] = [EXIT.interrupted, EXIT.unreachable, EXIT.overloaded];

/** Adds a hint how to continue after an interruption or a lost server. */
function withResumeHint(error: unknown, id: string): unknown {
  if (!(error instanceof Failure) || !RESUMABLE.includes(error.exitCode)) return error;
  return error.withHint(resumeHint(id), { task_id: id });
}
