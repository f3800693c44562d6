import type { Command } from "commander";
import { KEY_TERMS } from "../../../src/domain/access/key-policy.ts";
import { keyForm } from "../../../src/domain/access/record-form.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import type { FlagValues } from "../../flags/flag.ts";
import { namingFlags } from "../../flags/naming.ts";
import { readSigning, type SigningFlags, withSigningFlag } from "../../flags/signing.ts";
import { readTermFlags, withTermFlags } from "../../flags/terms.ts";
import { renderFields } from "../../format/table.ts";
import { withLocal, withLocalFlags } from "../../local.ts";
import { accountNames, keyFields } from "./fields.ts";
import { KEY_FLAGS, type SecretFlags, showSecrets } from "./secrets.ts";

export function addUpdate(keys: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(keys, "update <key>", "change the limits of a key, by id or name; what is not given stays"),
  );
  withSigningFlag(withTermFlags(command, KEY_TERMS))
    .option(
      "--callback-secret-grace <duration>",
      "how long the callback secret that is replaced signs too, up to 30d",
    )
    .option("--show-secret-only", "print the new callback secret and nothing else, for scripts");
  onRun<SecretFlags & SigningFlags & FlagValues>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const now = Date.now();
    const terms = await readTerms(options, now);
    await withLocal(options, context, async (manage) => {
      const changed = await namingFlags(manage.updateKey(given(args, 0), terms), KEY_FLAGS);
      const { record: key } = changed;
      const done = `${key.name} is changed. A running server follows within a second.`;
      const account = (await accountNames(manage)).get(key.accountId);
      if (changed.callbackSecret !== undefined) {
        const shown = { ...changed, account: { name: account } };
        showSecrets(invocation, shown, `${done} Callback secret, shown once:`);
        return;
      }
      output.say(`${output.style.green("✓")} Key ${done}`);
      output.show({ ...keyForm(key, now), account }, () =>
        renderFields(keyFields(key, account, now), output),
      );
    });
  });
}

/** @throws Failure (exit 2) for flags that cannot be read, or none */
async function readTerms(flags: SecretFlags & SigningFlags & FlagValues, now: number) {
  if (flags.showSecretOnly === true && flags.callbackSecret !== "new") {
    throw usage("--show-secret-only belongs to --callback-secret new, which is not given.");
  }
  const terms = { ...readTermFlags(KEY_TERMS, flags, now), ...(await readSigning(flags)) };
  if (Object.values(terms).some((term) => term !== undefined)) return terms;
  throw usage("There is nothing to change: give at least one limit, such as --rpm 60 or --rpm none.");
}
