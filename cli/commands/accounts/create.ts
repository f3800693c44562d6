import { type Command, Option } from "commander";
import { ACCOUNT_TERMS, type AccountMode } from "../../../src/domain/access/account-terms.ts";
import { accountForm } from "../../../src/domain/access/record-form.ts";
import { CURRENCY } from "../../../src/domain/money/money.ts";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readAmount } from "../../flags/amounts.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";

interface CreateFlags extends LocalFlags {
  readonly name?: string;
  readonly mode: AccountMode;
  readonly credit?: string;
}

export function addCreate(accounts: Command, context: Context): void {
  const { mode } = ACCOUNT_TERMS;
  const command = withLocalFlags(addCommand(accounts, "create [name]", "make an account"))
    .option("-n, --name <name>", "its name, in place of the argument")
    .addOption(new Option(mode.flag, mode.help).choices(mode.among).default("prepaid"))
    .option("--credit <amount>", `first credit in ${CURRENCY}, such as 5.00`);
  onRun<CreateFlags>(command, context, async ({ args, options, output }) => {
    const name = args[0] ?? options.name;
    if (name === undefined) throw usage("The account needs a name.", "svc accounts create NAME");
    const request = {
      name,
      mode: options.mode,
      credit: options.credit === undefined ? undefined : readAmount("--credit", options.credit),
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
