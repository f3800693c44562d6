import type { Command } from "commander";
import { follow } from "../../client/follow.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { parseDuration } from "../../format/units.ts";

interface WaitFlags extends RemoteFlags {
  readonly timeout: string;
  readonly output?: string;
}

export function addTaskWait(task: Command, context: Context): void {
  const command = withRemoteFlags(addCommand(task, "wait <task>", "wait for the end of a task"))
    .option("--timeout <duration>", "how long to wait", "10m")
    .option("-o, --output <path>", "save the results in this file or folder")
    .addHelpText("after", "\nExit codes: 0 completed, 3 failed, 9 still running, 10 cancelled.\n");
  onRun<WaitFlags>(command, context, async ({ args, options, output }) => {
    const timeoutMs = parseDuration(options.timeout);
    const remote = connect(options, context, output);
    const id = given(args, 0);
    const { kind } = await remote.client.find(id);
    await follow(remote, context, output, { kind, id, timeoutMs, target: options.output });
  });
}
