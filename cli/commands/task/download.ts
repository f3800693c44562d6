import type { Command } from "commander";
import { downloadResults } from "../../client/download.ts";
import { fileJson } from "../../client/follow.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { hasEnded, resumeHint, verdictOf } from "../../client/wait.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { formatSize } from "../../format/units.ts";
import { showPath } from "../../local.ts";

export function addTaskDownload(task: Command, context: Context): void {
  const command = withRemoteFlags(
    addCommand(task, "download <task>", "save the results of a completed task"),
  ).option("-o, --output <path>", "a file or a folder; several results are numbered", ".");
  onRun<RemoteFlags & { output: string }>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const { task: found } = await client.find(given(args, 0));
    if (!hasEnded(found)) throw notYet(found.task_id, found.status);
    const verdict = verdictOf(found, 0);
    if (verdict !== undefined) throw verdict;
    const files = await downloadResults(client, found, { path: options.output, cwd: context.cwd });
    for (const { path, sizeBytes } of files) {
      output.say(
        `${output.style.green("✓")} saved ${showPath(path, context.cwd)} (${formatSize(sizeBytes)})`,
      );
    }
    output.show({ task_id: found.task_id, files: files.map(fileJson) }, () =>
      files.map(({ path }) => `${showPath(path, context.cwd)}\n`).join(""),
    );
  });
}

function notYet(id: string, status: string): Failure {
  return new Failure(EXIT.stillRunning, "still_running", `${id} is still ${status}.`, {
    hint: resumeHint(id),
    more: { task_id: id, status },
  });
}
