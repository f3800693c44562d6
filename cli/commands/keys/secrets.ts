import type { ApiKey } from "../../../src/domain/access/account.ts";
import { KEY_TERMS } from "../../../src/domain/access/key-policy.ts";
import { keyForm } from "../../../src/domain/access/record-form.ts";
import type { Invocation } from "../../command.ts";
import { SIGNING_FLAGS } from "../../flags/signing.ts";
import { flagNames } from "../../flags/terms.ts";
import type { LocalFlags } from "../../local.ts";

/** The flags of `keys create` and `keys update`, by the fields of the management API. */
export const KEY_FLAGS = { ...flagNames(KEY_TERMS), ...SIGNING_FLAGS };

export interface SecretFlags extends LocalFlags {
  readonly showSecretOnly?: boolean;
}

interface Secrets {
  readonly key?: string | undefined;
  readonly callbackSecret?: string | undefined;
  readonly record: ApiKey;
  readonly account: { readonly name: string | undefined };
}

/** Prints new secrets, each on a line of its own: nothing else with --show-secret-only, else with what was done. */
export function showSecrets(
  { context, output, options }: Invocation<SecretFlags>,
  { key, callbackSecret, record, account }: Secrets,
  done: string,
): void {
  const lines = [key, callbackSecret].map((secret) => (secret === undefined ? "" : `${secret}\n`)).join("");
  if (options.showSecretOnly === true) {
    context.stdout.write(lines);
    return;
  }
  output.say(`${output.style.green("✓")} Key ${done}`);
  const form = { ...keyForm(record, Date.now()), account: account.name };
  output.show({ ...form, key, callback_secret: callbackSecret }, () => lines);
}
