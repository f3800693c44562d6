import { type Command, Option } from "commander";
import type { AccountMode } from "../../src/domain/access/account.ts";
import { accountForm } from "../../src/domain/access/record-form.ts";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import { addCommand, addGroup, given, LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { readAmount } from "../flags/amounts.ts";
import { renderFields } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../local.ts";
import { addActivate, addSuspend, addUpdate } from "./accounts/change.ts";
import { accountFields } from "./accounts/fields.ts";
import { addCredit, addRefund } from "./accounts/money.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "NAME" },
  { title: "MODE" },
  { title: "BALANCE", align: "right" as const },
  { title: "HELD", align: "right" as const },
  { title: "STATUS" },
  { title: "CREATED" },
];

export function addAccounts(program: Command, context: Context): void {
  const accounts = addGroup(
    program,
    "accounts",
    LOCAL_COMMANDS,
    "accounts, which own keys, tasks and money",
  ).alias("account");
  addCreate(accounts, context);
  addList(accounts, context);
  addShow(accounts, context);
  addUpdate(accounts, context);
  addSuspend(accounts, context);
  addActivate(accounts, context);
  addCredit(accounts, context);
  addRefund(accounts, context);
}

interface CreateFlags extends LocalFlags {
  readonly name?: string;
  readonly mode?: AccountMode;
  readonly credit?: string;
}

function addCreate(accounts: Command, context: Context): void {
  const command = withLocalFlags(addCommand(accounts, "create [name]", "make an account"))
    .option("-n, --name <name>", "its name, in place of the argument")
    .addOption(
      new Option(
        "--mode <mode>",
        "prepaid: spends what was credited; unlimited: is metered, but never refused",
      )
        .choices(["prepaid", "unlimited"])
        .default("prepaid"),
    )
    .option("--credit <amount>", `first credit in ${CURRENCY}, such as 5.00`);
  onRun<CreateFlags>(command, context, async ({ args, options, output }) => {
    const name = args[0] ?? options.name;
    if (name === undefined) throw usage("The account needs a name.", "svc accounts create NAME");
    const request = {
      name,
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...(options.credit === undefined ? {} : { credit: readAmount("--credit", options.credit) }),
    };
    await withLocal(options, context, async (manage, folder) => {
      const account = await manage.createAccount(request);
      output.say(
        `${output.style.green("✓")} Account ${account.name} created in ${folder}. Its first key: svc keys create --name NAME --account ${account.id}`,
      );
      output.show(accountForm(account), () => `${account.id}\n`);
    });
  });
}

function addList(accounts: Command, context: Context): void {
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

function addShow(accounts: Command, context: Context): void {
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
