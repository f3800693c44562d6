import type { KeyChange } from "../domain/access/account.ts";
import { type GivenKeyTerms, KEY_TERMS } from "../domain/access/key-policy.ts";
import { isSigningSecret, type SigningChange } from "../domain/callback/signature.ts";
import { invalid } from "../domain/errors.ts";
import type { Secrets } from "../domain/ports/runtime.ts";
import { checkTerms, type TermContext } from "./check-terms.ts";

/** In place of a callback secret: asks for a new one to be made. */
export const NEW_SECRET = "new";

/** How long a replaced secret may still be accepted: 30 days. */
export const MAX_GRACE_SEC = 30 * 86_400;

/** What an operator wants of a key's callback secret. */
interface CallbackSecretTerms {
  /** What its callbacks are signed with, `NEW_SECRET` for one that is made; null: they are not signed. */
  readonly callbackSecret?: string | null | undefined;
  /** How long the replaced callback secret signs too. */
  readonly callbackSecretGraceMs?: number | undefined;
}

/**
 * @throws AppError `invalid_request` that names the field of the management API; it never repeats what was given, which may be
 *   all of a secret but its last character
 */
function checkCallbackSecret(
  { callbackSecret, callbackSecretGraceMs: graceMs }: CallbackSecretTerms,
  { secrets, now }: { readonly secrets: Pick<Secrets, "newSigningSecret">; readonly now: number },
): SigningChange | null | undefined {
  const graceField = "callback_secret_grace_seconds";
  if (graceMs !== undefined) checkGrace(graceField, graceMs);
  if (callbackSecret === undefined || callbackSecret === null) {
    if (graceMs === undefined) return callbackSecret;
    throw invalid({ kind: "grace_alone", field: graceField });
  }
  const previousUntil = graceMs === undefined || graceMs === 0 ? undefined : now + graceMs;
  if (callbackSecret === NEW_SECRET) return { secret: secrets.newSigningSecret(), previousUntil };
  if (isSigningSecret(callbackSecret)) return { secret: callbackSecret, previousUntil };
  throw invalid({ kind: "signing_secret", field: "callback_secret", anew: NEW_SECRET });
}

/** @throws AppError `invalid_request` for a time that a replaced secret cannot be accepted for */
export function checkGrace(field: string, graceMs: number): void {
  if (Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= MAX_GRACE_SEC * 1000) return;
  throw invalid({ kind: "grace", field, most: MAX_GRACE_SEC, given: graceMs / 1000 });
}

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
