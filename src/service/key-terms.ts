import type { KeyChange } from "../domain/access/account.ts";
import { type GivenKeyTerms, KEY_TERMS } from "../domain/access/key-policy.ts";
import type { Secrets } from "../domain/ports/runtime.ts";
import { type CallbackSecretTerms, checkCallbackSecret } from "./callback-secret.ts";
import { checkTerms, type TermContext } from "./check-terms.ts";

/** What an operator wants of a key, as it was given. What is absent says nothing; null removes the limit. */
export type KeyTerms = GivenKeyTerms & CallbackSecretTerms;

/** @throws AppError `invalid_request`, as `checkTerms` does */
export function checkKeyTerms(
  terms: KeyTerms,
  context: TermContext & { readonly secrets: Pick<Secrets, "newSigningSecret"> },
): KeyChange {
  const { expiresAt, ...policy } = checkTerms(KEY_TERMS, terms, context);
  return { policy, expiresAt, signing: checkCallbackSecret(terms, context) };
}
