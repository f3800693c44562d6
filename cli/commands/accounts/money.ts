import type { Command } from "commander";
import { accountForm } from "../../../src/domain/access/record-form.ts";
import { CURRENCY, formatAmount } from "../../../src/domain/money/money.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readAmount } from "../../flags/amounts.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";

/** The actor that the ledger records for these commands. */
const ACTOR = "operator";

export function addCredit(accounts: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(
      accounts,
      "credit <account> <amount>",
      "add to an account's balance; a negative amount takes from it",
    ),
  ).option("--reason <text>", "why, for the ledger", "by hand");
  onRun<LocalFlags & { reason: string }>(command, context, async ({ args, options, output }) => {
    const amount = readAmount("The amount", given(args, 1));
    const movement = { reason: options.reason, actor: ACTOR };
    await withLocal(options, context, async (manage) => {
      const account = await manage.creditAccount(given(args, 0), amount, movement);
      output.say(
        `${output.style.green("✓")} ${account.name} now has ${formatAmount(account.balance)} ${CURRENCY}.`,
      );
      output.show(accountForm(account), () => `${formatAmount(account.balance)}\n`);
    });
  });
}

export function addRefund(accounts: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(accounts, "refund <task>", "give back what a task was charged, in whole or in part, once"),
  )
    .option("--amount <amount>", `how much, in ${CURRENCY} (default all of it)`)
    .requiredOption("--reason <text>", "why, for the ledger");
  onRun<LocalFlags & { amount?: string; reason: string }>(
    command,
    context,
    async ({ args, options, output }) => {
      const amount = options.amount === undefined ? undefined : readAmount("--amount", options.amount);
      const refund = { amount, reason: options.reason, actor: ACTOR };
      await withLocal(options, context, async (manage) => {
        const { account, ...done } = await manage.refundTask(given(args, 0), refund);
        const refunded = formatAmount(done.amount);
        output.say(
          `${output.style.green("✓")} ${refunded} ${CURRENCY} given back; ${account.name} now has ${formatAmount(account.balance)} ${CURRENCY}.`,
        );
        const value = { task_id: done.taskId, refunded, currency: CURRENCY, account: accountForm(account) };
        output.show(value, () => `${refunded}\n`);
      });
    },
  );
}
