import type { Command } from "commander";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { showCallback } from "../../format/callback-view.ts";
import { callbackIdOf } from "./find.ts";

const EXAMPLES = `
Examples:
  svc callbacks show cb_01m7…
  svc callbacks show task_01m7…       the callback of this task
`;

export function addCallbacksShow(callbacks: Command, context: Context): void {
  const command = withRemoteFlags(
    addCommand(callbacks, "show <callback>", "show a callback, what it says and how each send went"),
  ).addHelpText("after", EXAMPLES);
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const callback = await client.callback(await callbackIdOf(client, given(args, 0)));
    await showCallback(callback, context, output);
  });
}
