import type { Command } from "commander";
import type { TaskView } from "../../client/answer.ts";
import type { ClientOptions } from "../../client/exchange.ts";
import { clientOptions } from "../../client/remote.ts";
import { interrupted } from "../../client/retry.ts";
import { type FeedListener, followTasks } from "../../client/task-feed.ts";
import { allTasks, ownTasks, type TaskSource } from "../../client/task-source.ts";
import { createTracker, type Tracker } from "../../client/task-tracker.ts";
import { hasEnded, verdictOf } from "../../client/wait.ts";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { openOnDesktop } from "../../desktop.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";
import { hasColour } from "../../format/style.ts";
import { renderTsv } from "../../format/table.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { addOperatorsToo, type OperatorsToo, whoAsks } from "../../manage/caller.ts";
import { depthOf } from "../../picture/detect.ts";

/** How many tasks are read at most before changes are shown. */
const MOST = 10_000;

export function addWatch(task: Command, context: Context): void {
  const about = "watch tasks as they change, or these until they end";
  const command = addOperatorsToo(task, "watch [task...]", about);
  withExamples(
    command,
    "svc task watch",
    ["svc task watch task_01m7…", "until it ends; the exit code says how"],
    ["svc task watch --json | jq -r .status", "a line of JSON for each task and each change"],
  );
  withNotes(
    command,
    "On a terminal it fills the screen; ? explains its keys. Elsewhere, and with --plain or --no-input, it prints a line for each task that has not ended, and then one for each change: task, status, progress; with --json lines of JSON. With tasks it ends when they all have: 0 when they completed, otherwise as `task wait` for the first that did not. A server that goes away is tried until it is back.",
  );
  withExits(command, "taskFailed", "taskCancelled", "terminated");
  onRun<OperatorsToo>(command, context, (invocation) => watch(invocation, command.args));
}

/** What a watch needs, drawn or printed. */
interface Watch {
  readonly source: TaskSource;
  readonly client: ClientOptions;
  /** Of the tasks that were named; absent: all are watched. */
  readonly tracker: Tracker | undefined;
  readonly ids: readonly string[] | undefined;
  readonly invocation: Invocation<OperatorsToo>;
}

async function watch(invocation: Invocation<OperatorsToo>, args: readonly string[]): Promise<void> {
  const { context, output, options } = invocation;
  // A screen is of no use without keys.
  const isDrawn = output.mode === "pretty" && options.noInput !== true && (await canDraw(context));
  const over = new AbortController();
  const told = clientOptions(options, context, output);
  const client: ClientOptions = {
    ...told,
    signal: AbortSignal.any([told.signal, over.signal]),
    // Nothing else may write to the screen.
    ...(isDrawn ? { onRetry: undefined, onExchange: undefined, onUnknown: undefined } : {}),
  };
  const { settings, isOperator } = whoAsks(options, context);
  const source = isOperator ? allTasks(settings, client) : ownTasks(settings, client);
  const ids = args.length === 0 ? undefined : [...new Set(args)];
  const tracker = ids === undefined ? undefined : createTracker(ids);
  try {
    await (isDrawn ? draw : print)({ source, client, tracker, ids, invocation });
  } finally {
    over.abort();
  }
  for (const view of tracker?.views() ?? []) {
    const verdict = verdictOf(view, 0);
    if (verdict !== undefined) throw verdict;
  }
}

async function draw(given: Watch): Promise<void> {
  // Loaded late: Ink is slow to load, and few commands draw.
  const { openWatch } = await import("../../tui/watch/screen.tsx");
  const { source, client, tracker, ids, invocation } = given;
  const { context, output, options } = invocation;
  const isColoured = hasColour(context, context.stdout, options);
  const screen = openWatch({
    ...{ source, isColoured, timing: client.timing, signal: client.signal },
    ...{ cwd: context.cwd, stdout: context.stdout, now: Date.now },
    title: `svc task watch${source.isOfAll ? " --all-accounts" : ""}  ${source.server}`,
    depth: isColoured ? depthOf(context.env) : undefined,
    openAddress: (address) => openQuietly(address, context, output),
  });
  followTasks({
    ...{ source, ids, timing: client.timing, signal: client.signal, most: MOST },
    ...screen,
    onTasks(views, isEvent) {
      screen.onTasks(views, isEvent);
      tracker?.take(views);
    },
  }).catch(screen.end);
  tracker?.done.then(() => screen.end());
  await screen.closed;
  if (tracker === undefined) return;
  for (const view of tracker.views()) context.stdout.write(lineOf(view));
  if (!tracker.isDone()) throw interrupted();
}

/** The desktop's answer belongs into the screen, not onto it. */
async function openQuietly(address: string, context: Context, output: Output): Promise<string | undefined> {
  let problem: string | undefined;
  const warn = (text: string) => {
    problem = text;
  };
  await openOnDesktop(address, context, { ...output, warn });
  return problem;
}

async function print({ source, client, tracker, ids, invocation }: Watch): Promise<void> {
  const { context, output } = invocation;
  const printed = new Map<string, string>();
  /** The tasks that changed while tasks are read: what was read of them may be older. */
  let changed: Set<string> | undefined = new Set();
  let isLost = false;
  const listener: FeedListener = {
    onTasks(views, isEvent) {
      for (const view of views) {
        const { task_id: id } = view;
        if (isEvent) changed?.add(id);
        else if (changed?.has(id) === true) continue;
        const line = output.mode === "json" ? output.jsonLine(view) : lineOf(view);
        if (printed.get(id) === line) continue;
        printed.set(id, line);
        context.stdout.write(line);
        // Among endless tasks, those that have ended change no more.
        if (ids === undefined && hasEnded(view)) printed.delete(id);
      }
      tracker?.take(views);
    },
    onRead(problem) {
      if (problem !== undefined) output.warn(problem);
      else if (ids === undefined && printed.size === 0)
        output.say("No task is under way. Changes are printed as they come.");
      changed = undefined;
    },
    onLive() {
      if (isLost) output.say(`${source.server} answers again.`);
      isLost = false;
    },
    onTrouble(message) {
      if (!isLost) output.warn(`${message} It is tried until it answers.`);
      isLost = true;
    },
  };
  const { timing, signal } = client;
  const following = followTasks({
    ...{ source, ids, timing, signal, most: MOST, onlyLive: true },
    ...listener,
  });
  await (tracker === undefined ? following : Promise.race([following, tracker.done]));
}

/** A state, for people and scripts alike. */
function lineOf({ task_id: id, status, progress }: TaskView): string {
  return renderTsv([
    [printable(id), printable(status), typeof progress === "number" ? String(progress) : ""],
  ]);
}

async function canDraw({ env }: Context): Promise<boolean> {
  const { canDraw } = await import("../../tui/kit/terminal.ts");
  return canDraw(env);
}
