import type { Command } from "commander";
import type { Account } from "../../../src/domain/access/account.ts";
import { ACCOUNT_TERMS } from "../../../src/domain/access/account-terms.ts";
import { accountForm } from "../../../src/domain/access/record-form.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import type { FlagValues } from "../../flags/flag.ts";
import { namingFlags } from "../../flags/naming.ts";
import { flagNames, readTermFlags, withTermFlags } from "../../flags/terms.ts";
import { renderFields } from "../../format/table.ts";
import { type LocalFlags, type Manage, withLocal, withLocalFlags } from "../../local.ts";
import { accountFields } from "./fields.ts";

export function addUpdate(accounts: Command, context: Context): void {
  const command = withTermFlags(
    withLocalFlags(
      addCommand(accounts, "update <account>", "change the terms of an account; what is not given stays"),
    ),
    ACCOUNT_TERMS,
  );
  const flags = flagNames(ACCOUNT_TERMS);
  onRun<LocalFlags & FlagValues>(command, context, async ({ args, options, output }) => {
    const terms = readTermFlags(ACCOUNT_TERMS, options, Date.now());
    if (Object.values(terms).every((term) => term === undefined)) {
      const names = Object.values(flags);
      throw usage(
        `There is nothing to change: give at least one of ${names.slice(0, -1).join(", ")} and ${names.at(-1)}.`,
      );
    }
    await withLocal(options, context, async (manage) => {
      const account = await namingFlags(manage.updateAccount(given(args, 0), terms), flags);
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
