import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { Output } from "../format/output.ts";
import { formatDuration } from "../format/units.ts";
import { showPath } from "../local.ts";
import type { Kind, TaskView } from "./answer.ts";
import { resultUrls } from "./answer.ts";
import { downloadResults, type SavedFile } from "./download.ts";
import type { Remote } from "./remote.ts";
import { awaitTask, hasEnded, resumeHint, verdictOf } from "./wait.ts";

export interface FollowOptions {
  readonly kind: Kind;
  readonly id: string;
  readonly timeoutMs: number;
  /** Where results are saved; absent: results are not saved. */
  readonly target?: string | undefined;
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
  const { id, kind, timeoutMs } = options;
  const startedAt = timing.now();
  const report = await createReport(context, output, { id, elapsedMs: () => timing.now() - startedAt });
  const { onRead, longPollMs } = report;
  const task = await awaitTask(client, { id, kind, timeoutMs, timing, signal, onRead, longPollMs })
    .catch((error: unknown) => {
      throw withResumeHint(error, id);
    })
    .finally(report.stop);
  const verdict = verdictOf(task, timeoutMs);
  if (verdict === undefined) {
    const cost = costOf(task);
    const took = formatDuration(timing.now() - startedAt);
    output.say(
      `${output.style.green("✓")} ${id} completed in ${took}${cost === undefined ? "" : ` · ${cost}`}`,
    );
  }
  await printTask(remote, context, output, {
    task,
    target: verdict === undefined ? options.target : undefined,
  });
  if (verdict !== undefined) throw verdict;
}

/** Prints a task, after saving its results if requested. */
export async function printTask(
  { client }: Pick<Remote, "client">,
  context: Context,
  output: Output,
  { task, target }: { task: TaskView; target?: string | undefined },
): Promise<void> {
  if (target === undefined) {
    output.show(task, () =>
      resultUrls(task)
        .map((url) => `${url}\n`)
        .join(""),
    );
    return;
  }
  const files = await downloadResults(client, task, { path: target, cwd: context.cwd });
  output.show({ ...task, files: files.map(fileJson) }, () =>
    files.map(({ path }) => `${showPath(path, context.cwd)}\n`).join(""),
  );
}

export function fileJson({ path, url, sizeBytes }: SavedFile): {
  path: string;
  url: string;
  size_bytes: number;
} {
  return { path, url, size_bytes: sizeBytes };
}

export function costOf({ usage }: TaskView): string | undefined {
  if (typeof usage !== "object" || usage === null || !("cost" in usage)) return undefined;
  return `${String(usage.cost)} ${"currency" in usage ? String(usage.currency) : ""}`.trim();
}

interface Report {
  readonly onRead: (task: TaskView) => void;
  readonly longPollMs?: number;
  readonly stop: () => void;
}

/** How often a drawn task is read, so that its bar moves. */
const DRAWN_POLL_MS = 2_000;

/** Shows progress: drawn in place on a terminal, otherwise one line per change. */
async function createReport(
  context: Context,
  output: Output,
  { id, elapsedMs }: { id: string; elapsedMs: () => number },
): Promise<Report> {
  if (!context.stderr.isTerminal || !output.isTalkative) return { onRead: reporter(output), stop: () => {} };
  const { startProgress } = await import("../tui/progress.tsx");
  const elapsedSec = () => Math.floor(elapsedMs() / 1000);
  const view = startProgress({ id, status: "pending", progress: 0, elapsedSec: 0 });
  return {
    onRead: ({ status, progress }) =>
      view.show({
        id,
        status,
        progress: typeof progress === "number" ? progress : 0,
        elapsedSec: elapsedSec(),
      }),
    longPollMs: DRAWN_POLL_MS,
    stop: view.stop,
  };
}

/** Prints one line per change. */
function reporter(output: Output): (task: TaskView) => void {
  let last = "";
  return (task) => {
    const progress = typeof task.progress === "number" ? ` ${task.progress} %` : "";
    const line = `${task.task_id} ${task.status}${progress}`;
    if (line !== last && !hasEnded(task)) output.change(line);
    last = line;
  };
}

/** Adds a hint how to continue after an interruption or a lost server. */
function withResumeHint(error: unknown, id: string): unknown {
  if (!(error instanceof Failure)) return error;
  const isAboutWaiting =
    error.exitCode === EXIT.interrupted ||
    error.exitCode === EXIT.unreachable ||
    error.exitCode === EXIT.overloaded;
  if (!isAboutWaiting) return error;
  return new Failure(error.exitCode, error.code, error.message, {
    hint: resumeHint(id),
    requestId: error.requestId,
    more: { ...error.more, task_id: id },
  });
}
