import type { Command } from "commander";
import { KEY_TERMS } from "../../../src/domain/access/key-policy.ts";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { FlagValues } from "../../flags/flag.ts";
import { namingFlags } from "../../flags/naming.ts";
import { readSigning, type SigningFlags, withSigningFlag } from "../../flags/signing.ts";
import { readTermFlags, withTermFlags } from "../../flags/terms.ts";
import { withLocal, withLocalFlags } from "../../local.ts";
import { KEY_FLAGS, type SecretFlags, showSecrets } from "./secrets.ts";

export function addCreate(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "create", "make a key; it is shown this once"))
    .requiredOption("-n, --name <name>", "what people call it")
    .option("--account <account>", 'id or name of the account it belongs to (default "default")');
  withSigningFlag(withTermFlags(command, KEY_TERMS)).option(
    "--show-secret-only",
    "print the key, a new callback secret on the next line, and nothing else, for scripts",
  );
  type Flags = SecretFlags & SigningFlags & FlagValues & { name: string; account?: string };
  onRun<Flags>(command, context, async (invocation) => {
    const { name, account: owner, ...flags } = invocation.options;
    const terms = { ...readTermFlags(KEY_TERMS, flags, Date.now()), ...(await readSigning(flags)) };
    await withLocal(flags, context, async (manage, folder) => {
      const made = await namingFlags(manage.createKey({ ...terms, name, account: owner }), KEY_FLAGS);
      const { record, account } = made;
      showSecrets(
        invocation,
        made,
        `${record.name} (${record.id}) of account ${account.name} created in ${folder}. Shown once:`,
      );
    });
  });
}
