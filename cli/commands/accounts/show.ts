import type { Command } from "commander";
import { accountForm } from "../../../src/domain/access/record-form.ts";
import { formatAmount } from "../../../src/domain/money/money.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { renderFields } from "../../format/table.ts";
import { formatTime } from "../../format/units.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";
import { accountFields } from "./fields.ts";

export function addShow(accounts: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(accounts, "show <account>", "show an account and its ledger, by id or name"),
  );
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const { account, ledger } = await manage.showAccount(given(args, 0));
      const entries = ledger.map((entry) => ({
        at: Math.floor(entry.at / 1000),
        kind: entry.kind,
        balance_delta: formatAmount(entry.balanceDelta),
        held_delta: formatAmount(entry.heldDelta),
        task_id: entry.taskId ?? null,
        reason: entry.reason,
        actor: entry.actor,
      }));
      const lines = ledger.map((entry) => {
        const amounts = `${formatAmount(entry.balanceDelta).padStart(12)} ${formatAmount(entry.heldDelta).padStart(12)}`;
        return `${formatTime(entry.at)}  ${entry.kind.padEnd(10)} ${amounts}  ${entry.taskId ?? ""} ${entry.reason}\n`;
      });
      const title = lines.length === 0 ? "" : `\n${output.style.bold("LEDGER (balance, held)")}\n`;
      output.show({ ...accountForm(account), ledger: entries }, () =>
        [renderFields(accountFields(account), output), title, ...lines].join(""),
      );
    });
  });
}
