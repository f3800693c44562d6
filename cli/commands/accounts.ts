import { type Command, Option } from "commander";
import type { Account } from "../../src/domain/access/account.ts";
import { ACCOUNT_TERMS, type AccountMode } from "../../src/domain/access/account-terms.ts";
import { accountForm } from "../../src/domain/access/record-form.ts";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import { placeAgain } from "../again.ts";
import { addCommands, given } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { flagNames, namingFlags, readTermFlags, withTermFlags } from "../flags/terms.ts";
import { type FlagValues, readAmount } from "../flags/values.ts";
import type { Output } from "../format/output.ts";
import { column, renderFields } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples } from "../help/manual.ts";
import { gathered, type ListFlags, readListFlags, sayMore, withListFlags } from "../manage/lists.ts";
import { addManagedCommand, onManagedRun } from "../manage/managed.ts";
import type { Manage } from "../manage/port.ts";
import { accountFields } from "./accounts/fields.ts";
import { addPurge } from "./accounts/purge.ts";
import { addShow } from "./accounts/show.ts";

const COLUMNS = [
  ...[
    column.id("ID", 3),
    column.text("NAME"),
    column.word("MODE", 2),
    column.number("BALANCE"),
    column.number("HELD", 1),
    column.word("STATUS"),
    column.word("CREATED", 4),
  ],
];

const ACCOUNTS = {
  create: addCreate,
  list: addList,
  show: addShow,
  update: addUpdate,
  suspend: addSuspend,
  activate: addActivate,
  credit: addCredit,
  refund: addRefund,
  purge: addPurge,
};

export function defineAccounts(accounts: Command, context: Context, [word]: readonly string[]): void {
  addCommands(accounts, context, ACCOUNTS, word);
}

function addSuspend(accounts: Command, context: Context): void {
  addSwitch(accounts, context, {
    usage: "suspend <account>",
    description: "refuse an account's keys from now on; its accepted tasks continue",
    question: (account) => `Suspend account ${account}? All its keys are refused.`,
    done: "is suspended",
    follows: "A running server refuses its keys within a second.",
    act: (manage, account) => manage.suspendAccount(account),
  });
}

function addActivate(accounts: Command, context: Context): void {
  addSwitch(accounts, context, {
    usage: "activate <account>",
    description: "accept the keys of a suspended account again",
    done: "is active",
    follows: "A running server takes its keys within a second.",
    act: (manage, account) => manage.activateAccount(account),
  });
}

function addCreate(accounts: Command, context: Context): void {
  const { mode } = ACCOUNT_TERMS;
  const command = addManagedCommand(accounts, "create [name]", "make an account")
    .option("-n, --name <name>", "its name, instead of the argument")
    .addOption(new Option(mode.flag, mode.help).choices(mode.among).default("prepaid"))
    .option("--credit <amount>", `first credit in ${CURRENCY}, such as 5.00`);
  withExamples(command, "svc accounts create studio --mode prepaid --credit 25.00");
  type Flags = { name?: string; mode: AccountMode; credit?: string };
  onManagedRun<Flags>(command, context, async ({ args, options, output, open }) => {
    const name = args[0] ?? options.name;
    if (name === undefined) throw usage("The account needs a name.", "svc accounts create NAME");
    const credit = options.credit === undefined ? undefined : readAmount("--credit", options.credit);
    const { manage, at } = await open();
    const account = await manage.createAccount({ name, mode: options.mode, credit });
    output.done(
      `Account ${account.name} created ${at}. Its first key: svc keys create --name NAME --account ${account.id}${placeAgain(command)}`,
    );
    output.show(accountForm(account), () => `${account.id}\n`);
  });
}

function addList(accounts: Command, context: Context): void {
  const command = addManagedCommand(accounts, "list", "list the accounts, the oldest first");
  withListFlags(command, "accounts");
  withExamples(command, "svc accounts list");
  onManagedRun<ListFlags>(command, context, async ({ options, output, open }) => {
    const query = readListFlags(options);
    const { manage } = await open();
    const { items: found, next } = await gathered(manage.listAccounts(query));
    const rows = found.map(({ id, name, mode, balance, held, status, createdAt }) => [
      id,
      name,
      mode,
      formatAmount(balance),
      formatAmount(held),
      status,
      formatTime(createdAt),
    ]);
    await output.list({ accounts: found.map(accountForm), next }, COLUMNS, rows);
    sayMore(output, command, next);
  });
}

function addUpdate(accounts: Command, context: Context): void {
  const description = "change terms of an account; others stay unchanged";
  const command = addManagedCommand(accounts, "update <account>", description);
  withExamples(command, "svc accounts update studio --price-multiplier 1.25 --credit-limit 10.00");
  const flags = flagNames(ACCOUNT_TERMS);
  onManagedRun<FlagValues>(withTermFlags(command, ACCOUNT_TERMS), context, async (invocation) => {
    const { args, options, output, open } = invocation;
    const terms = readTermFlags(ACCOUNT_TERMS, options, Date.now());
    if (Object.values(terms).every((term) => term === undefined)) {
      const names = Object.values(flags);
      throw usage(
        `There is nothing to change: give at least one of ${names.slice(0, -1).join(", ")} and ${names.at(-1)}.`,
      );
    }
    const { manage, at } = await open();
    const account = await namingFlags(manage.updateAccount(given(args, 0), terms), flags);
    output.done(`Account ${account.name} is changed ${at}. A running server follows within a second.`);
    if (typeof terms.creditLimit === "number") tellUnlimited(account, command, output);
    output.show(accountForm(account), () => renderFields(accountFields(account), output));
  });
}

interface Switch {
  readonly usage: string;
  readonly description: string;
  /** Asked before. */
  readonly question?: (account: string) => string;
  readonly done: string;
  readonly follows: string;
  act(manage: Manage, account: string): Promise<Account>;
}

function addSwitch(accounts: Command, context: Context, { question, act, ...shown }: Switch): void {
  const command = addManagedCommand(accounts, shown.usage, shown.description);
  withExamples(command, `svc accounts ${command.name()} studio`);
  if (question !== undefined) asksFirst(command);
  onManagedRun(command, context, async (invocation) => {
    const { args, output, open } = invocation;
    const { manage, at } = await open();
    if (question !== undefined) await confirm(invocation, question(`${given(args, 0)} ${at}`));
    const account = await act(manage, given(args, 0));
    output.done(`Account ${account.name} ${shown.done} ${at}. ${shown.follows}`);
    output.show(accountForm(account), () => `${account.id}\n`);
  });
}

function addCredit(accounts: Command, context: Context): void {
  const description = "add to an account's balance; a negative amount subtracts";
  const command = addManagedCommand(accounts, "credit <account> <amount>", description);
  command.option("--reason <text>", "reason, for the ledger", "by hand");
  withExamples(command, 'svc accounts credit studio 25.00 --reason "invoice 1042"');
  onManagedRun<{ reason: string }>(command, context, async ({ args, options, output, open }) => {
    const amount = readAmount("The amount", given(args, 1));
    const movement = { reason: options.reason };
    const { manage, at } = await open();
    const account = await manage.creditAccount(given(args, 0), amount, movement);
    const balance = formatAmount(account.balance);
    output.done(`${account.name} now has ${balance} ${CURRENCY} ${at}.`);
    if (amount > 0) tellUnlimited(account, command, output);
    output.show(accountForm(account), () => `${balance}\n`);
  });
}

/** The first account is unlimited, so that a balance or a credit limit ends nothing there until its mode is another. */
function tellUnlimited({ id, name, mode }: Account, command: Command, output: Output): void {
  if (mode !== "unlimited") return;
  const change = `svc accounts update ${id} --mode prepaid${placeAgain(command)}`;
  output.say(
    `${name} is unlimited: its requests are refused for want of money only beyond 8e9 USD owed. To change that: ${change}`,
  );
}

function addRefund(accounts: Command, context: Context): void {
  const description = "refund a task's charge, in whole or in part, once";
  const command = addManagedCommand(accounts, "refund <task>", description)
    .option("--amount <amount>", `amount in ${CURRENCY} (default: all of it)`)
    .requiredOption("--reason <text>", "reason, for the ledger");
  withExamples(command, 'svc accounts refund task_01m7… --reason "wrong picture"');
  type Flags = { amount?: string; reason: string };
  onManagedRun<Flags>(command, context, async ({ args, options, output, open }) => {
    const amount = options.amount === undefined ? undefined : readAmount("--amount", options.amount);
    const refund = { amount, reason: options.reason };
    const { manage, at } = await open();
    const { account, ...done } = await manage.refundTask(given(args, 0), refund);
    const refunded = formatAmount(done.amount);
    output.done(
      `${refunded} ${CURRENCY} given back; ${account.name} now has ${formatAmount(account.balance)} ${CURRENCY} ${at}.`,
    );
    const value = { task_id: done.taskId, refunded, currency: CURRENCY, account: accountForm(account) };
    output.show(value, () => `${refunded}\n`);
  });
}
