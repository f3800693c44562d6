import type { KeyChange } from "../domain/access/account.ts";
import { type GivenKeyTerms, KEY_TERMS } from "../domain/access/key-policy.ts";
import { isSigningSecret, type SigningChange } from "../domain/callback/signature.ts";
import { invalid } from "../domain/errors.ts";
import type { Secrets } from "../domain/ports/runtime.ts";
import { checkTerms, type TermContext } from "./check-terms.ts";

/** The value of a callback secret that asks for a new secret. */
export const NEW_SECRET = "new";

/** How long a replaced secret may still be accepted: 30 days. */
export const MAX_GRACE_SEC = 30 * 86_400;

/** What an operator gives for a key's callback secret. */
interface CallbackSecretTerms {
  /** The secret that signs its callbacks, or `NEW_SECRET` to make one; null: callbacks are not signed. */
  readonly callbackSecret?: string | null | undefined;
  /** How long the replaced callback secret also signs. */
  readonly callbackSecretGraceMs?: number | undefined;
}

/**
 * @throws AppError `invalid_request` that names the field of the management API. It never repeats the given text, which may be
 * a whole secret without its last character
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

/** @throws AppError `invalid_request` if a replaced secret cannot stay valid for this time */
export function checkGrace(field: string, graceMs: number): void {
  if (Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= MAX_GRACE_SEC * 1000) return;
  throw invalid({ kind: "grace", field, most: MAX_GRACE_SEC, given: graceMs / 1000 });
}

/** What an operator gives for a key. Absent members are not mentioned; null removes the limit. */
export type KeyTerms = GivenKeyTerms & CallbackSecretTerms;

/** @throws AppError `invalid_request`, like `checkTerms` */
export function checkKeyTerms(
  terms: KeyTerms,
  context: TermContext & { readonly secrets: Pick<Secrets, "newSigningSecret"> },
): KeyChange {
  const { expiresAt, ...policy } = checkTerms(KEY_TERMS, terms, context);
  return { policy, expiresAt, signing: checkCallbackSecret(terms, context) };
}
