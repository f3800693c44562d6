import type { Account, ApiKey, ManagementToken } from "../../../domain/access/account.ts";
import type { Act } from "../../../domain/access/actor.ts";
import { accountForm, keyForm, tokenForm } from "../../../domain/access/record-form.ts";
import { differences, type TrailAction, type TrailNote } from "../../../domain/access/trail.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { formatAmount, type Micros } from "../../../domain/money/money.ts";

/* The trail's records of changes of accounts, keys and tokens. Undefined: nothing was changed, or no actor is named. */

type Noted = TrailNote | undefined;

export function accountMade(account: Account | undefined, credit: Micros): Noted {
  if (account === undefined) return undefined;
  const after = { ...termsOf(account), credit: formatAmount(credit) };
  return { action: "account.create", object: ofAccount(account), after };
}

export function accountChanged(before: Account, after: Account): Noted {
  const differ = differences(termsOf(before), termsOf(after));
  if (differ === undefined) return undefined;
  const isSwitched = before.status !== after.status;
  const switched = after.status === "active" ? "account.activate" : "account.suspend";
  return { action: isSwitched ? switched : "account.update", object: ofAccount(after), ...differ };
}

export function accountCredited(before: Account, after: Account, amount: Micros, reason: string): Noted {
  return {
    action: "account.credit",
    object: ofAccount(after),
    before: { balance: formatAmount(before.balance) },
    after: { balance: formatAmount(after.balance), amount: formatAmount(amount), reason },
  };
}

export function keyMade(key: ApiKey, act: Act | undefined): Noted {
  return act && { action: "key.create", object: ofKey(key), after: keyForm(key, act.at) };
}

/** @param more what the form of a key does not show */
export function keyChanged(
  action: TrailAction,
  [before, after]: readonly [before: ApiKey, after: ApiKey],
  act: Act | undefined,
  more: JsonObject = {},
): Noted {
  if (act === undefined) return undefined;
  const differ = differences(keyForm(before, act.at), { ...keyForm(after, act.at), ...more });
  return differ && { action, object: ofKey(after), ...differ };
}

export function tokenMade(token: ManagementToken, act: Act | undefined): Noted {
  return act && { action: "token.create", object: ofToken(token), after: formOf(token, act) };
}

export function tokenRevoked(token: ManagementToken | undefined, at: number, act: Act | undefined): Noted {
  if (token === undefined || act === undefined) return undefined;
  const differ = differences(formOf(token, act), formOf({ ...token, revokedAt: at }, act));
  return differ && { action: "token.revoke", object: ofToken(token), ...differ };
}

const ofAccount = ({ id, name }: Account) => ({ kind: "account", id, name }) as const;
const ofKey = ({ id, name }: ApiKey) => ({ kind: "key", id, name }) as const;
const ofToken = ({ id, name }: ManagementToken) => ({ kind: "token", id, name }) as const;

/** An account without the figures that tasks change all the time, which are in the ledger. */
function termsOf(account: Account) {
  const { balance: _, held: __, available: ___, ...terms } = accountForm(account);
  return terms;
}

/** A token without its last use, which is no change. */
function formOf(token: ManagementToken, { at }: Act) {
  const { last_used_at: _, ...form } = tokenForm(token, at);
  return form;
}
