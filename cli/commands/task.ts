import { type Command, Option } from "commander";
import { TASK_STATUSES } from "../../src/domain/task/task.ts";
import { issuesOf, resultUrls, type TaskView } from "../client/answer.ts";
import type { TaskQuery } from "../client/client.ts";
import { costOf, follow } from "../client/follow.ts";
import { listPages, type PageFlags, withPageFlags } from "../client/pages.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../client/remote.ts";
import { checkTarget } from "../client/target.ts";
import { addCommands, given, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { addSaveFlags, type SaveFlags, savingFor } from "../flags/save.ts";
import { column, type Field, renderFields } from "../format/table.ts";
import { formatTime, parseDuration } from "../format/units.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";
import { addDelete } from "./task/delete.ts";
import { addExtend, addTree, addUpscale, addVariations } from "./task/made-from.ts";
import { addDownload, addOpen } from "./task/results.ts";
import { addRetry } from "./task/retry.ts";
import { addSubmit } from "./task/submit.ts";
import { addTrace } from "./task/trace.ts";
import { addWatch } from "./task/watch.ts";

const COLUMNS = [
  ...[
    column.id("TASK"),
    column.word("KIND", 5),
    column.id("MODEL", 1),
    column.word("STATUS"),
    column.number("PROGRESS", 4),
    column.word("CREATED", 3),
    column.word("COST", 2),
  ],
];
const TASK_EXITS = "Exit codes: 0 completed, 3 failed, 9 still running, 10 cancelled.";

const TASK = {
  submit: addSubmit,
  get: addGet,
  trace: addTrace,
  wait: addWait,
  watch: addWatch,
  list: addList,
  cancel: addCancel,
  delete: addDelete,
  retry: addRetry,
  variations: addVariations,
  extend: addExtend,
  upscale: addUpscale,
  tree: addTree,
  open: addOpen,
  download: addDownload,
};

export function defineTask(task: Command, context: Context, [word]: readonly string[]): void {
  addCommands(task, context, TASK, word);
}

function addGet(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "get <task>", "show a task's present state");
  withExamples(command, "svc task get task_01m7…", "svc task get task_01m7… --field status");
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const { kind, task: found } = await client.find(given(args, 0));
    output.show(found, () => renderFields(fieldsOf(found, kind), output));
  });
}

function addWait(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "wait <task>", "wait until a task ends").option(
    "--timeout <duration>",
    "how long to wait",
    "10m",
  );
  addSaveFlags(command, "save the results: file, folder or - for standard output");
  withExamples(command, "svc task wait task_01m7…", "svc task wait task_01m7… --timeout 2m -o wave.mp4");
  withExits(withNotes(command, TASK_EXITS), "taskFailed", "stillRunning", "taskCancelled");
  type Flags = RemoteFlags & SaveFlags & { timeout: string };
  onRun<Flags>(command, context, async ({ args, options, output }) => {
    const timeoutMs = parseDuration(options.timeout);
    const id = given(args, 0);
    const saving = savingFor(options, context, output);
    checkTarget(saving?.target, 1);
    const remote = connect(options, context, output);
    const { kind } = await remote.client.find(id);
    await follow(remote, context, output, { kind, id, timeoutMs, saving });
  });
}

function addList(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "list", "list your tasks, newest first")
    .addOption(new Option("--status <status>", "only tasks in this state").choices(TASK_STATUSES))
    .addOption(new Option("--kind <kind>", "only tasks of this kind").choices(["image", "video"]))
    .option("-m, --model <model>", "only tasks of this model")
    .option("--search <text>", "only tasks whose prompts have these words");
  withPageFlags(command, "tasks");
  withExamples(
    command,
    "svc task list --status failed",
    ["svc task list -m sandbox-video --all --json", "a task a line"],
    'svc task list --search "lighthouse dusk"',
  );
  onRun<RemoteFlags & TaskQuery & PageFlags & { search?: string }>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const { status, kind, model, search: q } = options;
    const { client } = connect(options, context, output);
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      read: (page) => client.tasks({ status, kind, model, q, ...page }),
      itemsOf: ({ tasks }) => tasks,
      rowOf,
      none: "No tasks.",
    });
  });
}

function rowOf(task: TaskView): string[] {
  return [
    task.task_id,
    textOf(task.kind) ?? "",
    textOf(task.model) ?? "",
    statusOf(task),
    progressOf(task) ?? "",
    timeOf(task.created_at) ?? "",
    costOf(task) ?? "",
  ];
}

function addCancel(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "cancel <task>", "stop a task; a cancelled task costs nothing");
  withExamples(command, "svc task cancel task_01m7…");
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const found = await client.cancel(given(args, 0));
    const { task_id: id, status } = found;
    if (status === "cancelled") output.done(`${id} is cancelled.`);
    else output.say(`${id} is asked to stop; it is ${status}.`);
    output.show(found, () => `${status}\n`);
  });
}

function fieldsOf(task: TaskView, kind: string): Field[] {
  const error = [task.error_code, task.error_message ?? task.error].map(textOf).filter(Boolean);
  return [
    ["task", task.task_id],
    ["kind", kind],
    ["model", textOf(task.model)],
    ["status", task.status],
    ["progress", progressOf(task)],
    ["created", timeOf(task.created_at)],
    ["completed", timeOf(task.completed_at)],
    ["cost", costOf(task)],
    [
      "cancel",
      task.cancel_requested === true ? "asked for; the provider has not said yet what came of it" : undefined,
    ],
    ["error", error.join(": ") || undefined],
    ...resultUrls(task).map((url): Field => ["result", url]),
    ...issuesOf(task).map((issue): Field => ["missing", issue]),
  ];
}

/** The status, and what else decides whether to wait on. */
function statusOf(task: TaskView): string {
  if (task.cancel_requested === true) return `${task.status}, cancel requested`;
  const missing = issuesOf(task).length;
  return missing === 0 ? task.status : `${task.status}, ${missing} missing`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Formats epoch seconds. */
function timeOf(value: unknown): string | undefined {
  return typeof value === "number" ? formatTime(value * 1000) : undefined;
}

function progressOf({ progress }: TaskView): string | undefined {
  return typeof progress === "number" ? `${progress} %` : undefined;
}
