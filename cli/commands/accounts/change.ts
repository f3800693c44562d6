import { type Command, Option } from "commander";
import type { Account, AccountMode } from "../../../src/domain/access/account.ts";
import { accountForm } from "../../../src/domain/access/record-form.ts";
import { CURRENCY } from "../../../src/domain/money/money.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readAmount, readMultiplier } from "../../flags/amounts.ts";
import { liftable, namingFlags } from "../../flags/key-terms.ts";
import { renderFields } from "../../format/table.ts";
import { type LocalFlags, type Manage, withLocal, withLocalFlags } from "../../local.ts";
import { accountFields } from "./fields.ts";

interface UpdateFlags extends LocalFlags {
  readonly mode?: AccountMode;
  readonly creditLimit?: string;
  readonly priceMultiplier?: string;
  readonly lowBalance?: string;
}

export function addUpdate(accounts: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(accounts, "update <account>", "change the terms of an account; what is not given stays"),
  )
    .addOption(
      new Option(
        "--mode <mode>",
        "prepaid: spends what was credited; unlimited: is metered, never refused",
      ).choices(["prepaid", "unlimited"]),
    )
    .option("--credit-limit <amount>", `how far below zero it may go, in ${CURRENCY}, such as 10.00; or none`)
    .option("--price-multiplier <factor>", "its prices times this, such as 1.25; or none")
    .option("--low-balance <amount>", "warn in the log when less than this is available; or none");
  onRun<UpdateFlags>(command, context, async ({ args, options, output }) => {
    const { mode } = options;
    const terms = {
      mode,
      creditLimit: liftable(options.creditLimit, (text) => readAmount("--credit-limit", text)),
      priceMultiplier: liftable(options.priceMultiplier, (text) =>
        readMultiplier("--price-multiplier", text),
      ),
      lowBalance: liftable(options.lowBalance, (text) => readAmount("--low-balance", text)),
    };
    if (Object.values(terms).every((term) => term === undefined)) {
      throw usage(
        "There is nothing to change: give at least one of --mode, --credit-limit, --price-multiplier and --low-balance.",
      );
    }
    await withLocal(options, context, async (manage) => {
      const account = await namingFlags(manage.updateAccount(given(args, 0), terms));
      output.say(
        `${output.style.green("✓")} Account ${account.name} is changed. A running server follows within a second.`,
      );
      output.show(accountForm(account), () => renderFields(accountFields(account), output));
    });
  });
}

export function addSuspend(accounts: Command, context: Context): void {
  addSwitch(accounts, context, {
    usage: "suspend <account>",
    description: "refuse the keys of an account from now on; tasks that were accepted go on",
    done: "is suspended. A running server refuses its keys within a second.",
    act: (manage, account) => manage.suspendAccount(account),
  });
}

export function addActivate(accounts: Command, context: Context): void {
  addSwitch(accounts, context, {
    usage: "activate <account>",
    description: "take the keys of a suspended account again",
    done: "is active. A running server takes its keys within a second.",
    act: (manage, account) => manage.activateAccount(account),
  });
}

interface Switch {
  readonly usage: string;
  readonly description: string;
  readonly done: string;
  act(manage: Manage, account: string): Promise<Account>;
}

function addSwitch(accounts: Command, context: Context, { usage, description, done, act }: Switch): void {
  const command = withLocalFlags(addCommand(accounts, usage, description));
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const account = await act(manage, given(args, 0));
      output.say(`${output.style.green("✓")} Account ${account.name} ${done}`);
      output.show(accountForm(account), () => `${account.id}\n`);
    });
  });
}
