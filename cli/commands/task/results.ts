import type { Command } from "commander";
import type { TaskView } from "../../client/answer.ts";
import { webAddresses } from "../../client/download.ts";
import { addRemoteCommand, connect, type Remote, type RemoteFlags } from "../../client/remote.ts";
import { saveResults } from "../../client/saved.ts";
import { hasEnded, resumeHint, verdictOf } from "../../client/wait.ts";
import { given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { openOnDesktop } from "../../desktop.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import { addSaveFlags, readSaving, type SaveFlags } from "../../flags/save.ts";
import { readCount } from "../../flags/values.ts";
import { withExamples } from "../../help/manual.ts";

export function addDownload(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "download <task>", "save the results of a completed task");
  addSaveFlags(command, "file, folder or - for standard output (default the current folder)");
  withExamples(command, "svc task download task_01m7…", "svc task download task_01m7… -o lighthouse.png");
  onRun<RemoteFlags & SaveFlags>(command, context, async ({ args, options, output }) => {
    const id = given(args, 0);
    const saving = readSaving(options, context, output);
    const remote = connect(options, context, output);
    const task = await completed(remote, id);
    await saveResults(remote, context, output, { task, shown: { task_id: id }, saving });
  });
}

export function addOpen(task: Command, context: Context): void {
  const description = "open a result of a completed task with the desktop's program for it";
  const command = addRemoteCommand(task, "open <task>", description).option(
    "--result <number>",
    "which result, from 1",
    "1",
  );
  withExamples(command, "svc task open task_01m7…", "svc task open task_01m7… --result 2");
  onRun<RemoteFlags & { result: string }>(command, context, async ({ args, options, output }) => {
    const number = readCount("--result", options.result, 3);
    const found = await completed(connect(options, context, output), given(args, 0));
    const urls = webAddresses(found);
    const url = urls[number - 1];
    if (url === undefined) {
      const has = urls.length === 1 ? "one result" : `${urls.length} results`;
      throw usage(`--result ${number}: ${found.task_id} has ${has}.`);
    }
    await openOnDesktop(url, context, output);
    output.show({ task_id: found.task_id, url }, () => `${url}\n`);
  });
}

/** @throws Failure when the task has not completed */
async function completed({ client }: Remote, id: string): Promise<TaskView> {
  const { task: found } = await client.find(id);
  if (!hasEnded(found)) throw notYet(found);
  const verdict = verdictOf(found, 0);
  if (verdict !== undefined) throw verdict;
  return found;
}

function notYet({ task_id: id, status }: TaskView): Failure {
  return new Failure(EXIT.stillRunning, "still_running", `${id} is still ${status}.`, {
    hint: resumeHint(id),
    more: { task_id: id, status },
  });
}
