import type { Command } from "commander";
import { given } from "../../command.ts";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { type Field, renderFields } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { countIn } from "../../manage/fields.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";

export function addPurge(accounts: Command, context: Context): void {
  const about = "remove everything of an account but its money, for ever";
  const command = addManagedCommand(accounts, "purge <account>", about);
  asksFirst(command);
  withExamples(command, "svc accounts purge studio", "svc accounts purge studio --yes --json");
  withNotes(
    command,
    "Suspends the account, cancels what is under way, deletes its tasks with their files and callbacks, revokes its keys, and removes their names and its own. Ledger, usage and trail stay. While a server runs, files that are less than an hour old are left to it; backups and recordings are yours to remove.",
  );
  onManagedRun(command, context, async (invocation) => {
    const { args, output, open } = invocation;
    const { manage, purge, at } = await open();
    const { id, name } = await manage.readAccount(given(args, 0));
    await confirm(invocation, `Remove everything of account ${name} (${id}) ${at} but its money, for ever?`);
    const form = await purge(id, (count) => output.progress(`${count} tasks so far`));
    output.clear();
    const [tasks, files, filesLeft] = [
      countIn(form, "tasks"),
      countIn(form, "files"),
      countIn(form, "files_left"),
    ];
    if (form.status === "live") {
      const live = tasks === 1 ? "One of its tasks is" : `${tasks} of its tasks are`;
      const what = `${live} under way and asked to stop; its keys are refused.`;
      const hint = "Repeat the command once they have ended, which needs a running server.";
      throw new Failure(EXIT.conflict, "account_busy", what, { hint });
    }
    const left = filesLeft === 0 ? "none" : `${filesLeft}, which the server removes within seven hours`;
    const fields: Field[] = [
      ...([["account", id] as const, ["tasks", String(tasks)] as const] satisfies Field[]),
      ...([["files", String(files)] as const, ["files left", left] as const] satisfies Field[]),
    ];
    const { status: _, ...shown } = form;
    output.show(shown, () => renderFields(fields, output));
    if (form.verified !== true)
      throw new Failure(EXIT.error, "account_remains", "Something of the account is left; see --json.");
    output.done(`Nothing of account ${name} is left ${at} but its money.`);
  });
}
