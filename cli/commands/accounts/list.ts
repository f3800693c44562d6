import type { Command } from "commander";
import { accountForm } from "../../../src/domain/access/record-form.ts";
import { formatAmount } from "../../../src/domain/money/money.ts";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { formatTime } from "../../format/units.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "NAME" },
  { title: "MODE" },
  { title: "BALANCE", align: "right" as const },
  { title: "HELD", align: "right" as const },
  { title: "STATUS" },
  { title: "CREATED" },
];

export function addList(accounts: Command, context: Context): void {
  const command = withLocalFlags(addCommand(accounts, "list", "list the accounts"));
  onRun<LocalFlags>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage) => {
      const found = await manage.listAccounts();
      const rows = found.map((account) => [
        account.id,
        account.name,
        account.mode,
        formatAmount(account.balance),
        formatAmount(account.held),
        account.status,
        formatTime(account.createdAt),
      ]);
      await output.list({ accounts: found.map(accountForm) }, COLUMNS, rows);
    });
  });
}
