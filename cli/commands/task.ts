import type { Command } from "commander";
import { issuesOf, resultUrls, type TaskView } from "../client/answer.ts";
import { costOf, follow } from "../client/follow.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../client/remote.ts";
import { checkTarget } from "../client/target.ts";
import { addCommands, given, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { addSaveFlags, type SaveFlags, savingFor } from "../flags/save.ts";
import { type Field, renderFields } from "../format/table.ts";
import { parseDuration } from "../format/units.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";
import { addCancel } from "./task/cancel.ts";
import { progressOf, textOf, timeOf } from "./task/cells.ts";
import { addDelete } from "./task/delete.ts";
import { addList } from "./task/list.ts";
import { addExtend, addTree, addUpscale, addVariations } from "./task/made-from.ts";
import { addDownload, addOpen } from "./task/results.ts";
import { addRetry } from "./task/retry.ts";
import { addSubmit } from "./task/submit.ts";
import { addTrace } from "./task/trace.ts";
import { addWatch } from "./task/watch.ts";

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
