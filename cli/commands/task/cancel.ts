import type { Command } from "commander";
import { createClient } from "../../client/client.ts";
import { clientOptions } from "../../client/remote.ts";
import { given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { withExamples } from "../../help/manual.ts";
import { addOperatorsToo, type OperatorsToo, whoAsks } from "../../manage/caller.ts";

export function addCancel(task: Command, context: Context): void {
  const command = addOperatorsToo(task, "cancel <task>", "stop a task; a cancelled task costs nothing");
  withExamples(command, "svc task cancel task_01m7…");
  onRun<OperatorsToo>(command, context, async ({ args, options, output }) => {
    const { settings, isOperator } = whoAsks(options, context);
    const client = createClient(settings, clientOptions(options, context, output));
    const id = given(args, 0);
    const found = isOperator ? await client.managedCancel(id) : await client.cancel(id);
    const { task_id: cancelled, status } = found;
    if (status === "cancelled") output.done(`${cancelled} is cancelled.`);
    else output.say(`${cancelled} is asked to stop; it is ${status}.`);
    output.show(found, () => `${status}\n`);
  });
}
