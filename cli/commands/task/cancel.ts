import type { Command } from "commander";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";

export function addTaskCancel(task: Command, context: Context): void {
  const command = withRemoteFlags(
    addCommand(task, "cancel <task>", "stop a task; a cancelled task costs nothing"),
  );
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const found = await client.cancel(given(args, 0));
    const isOver = found.status === "cancelled";
    output.say(
      isOver
        ? `${output.style.green("✓")} ${found.task_id} is cancelled.`
        : `${found.task_id} is asked to stop; it is ${found.status}.`,
    );
    output.show(found, () => `${found.status}\n`);
  });
}
