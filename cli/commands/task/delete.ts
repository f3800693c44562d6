import type { Command } from "commander";
import { addRemoteCommand, connect, type RemoteFlags } from "../../client/remote.ts";
import { onRun } from "../../command.ts";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { withExamples, withNotes } from "../../help/manual.ts";

/** The words of an argument that takes several, which commander gives as a list. */
function severalOf(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.map(String) : [];
}

/** Ids in a question. */
const NAMED = 3;

export function addDelete(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "delete <tasks...>", "delete ended tasks with their files");
  asksFirst(command);
  withExamples(command, "svc task delete task_01m7…", "svc task delete task_01m7… task_01m8… --yes");
  withNotes(
    command,
    "What a task was charged stays in the account's books. Files that other tasks have too stay. One that has not ended is refused: cancel it first.",
  );
  onRun<RemoteFlags>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const ids = severalOf(args[0]);
    const { client } = connect(options, context, output);
    const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
    await confirm(invocation, `Delete ${ids.slice(0, NAMED).join(", ")}${more} for ever?`);
    for (const id of ids) {
      await client.remove(id);
      output.done(`${id} is deleted.`);
    }
    output.show({ deleted: ids }, () => ids.map((id) => `${id}\n`).join(""));
  });
}
