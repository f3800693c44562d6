import type { Account } from "../domain/access/account.ts";
import type { Act, Actor } from "../domain/access/actor.ts";
import { type CredentialKind, displayOf, formatCredential } from "../domain/access/credential.ts";
import { AppError, invalid } from "../domain/errors.ts";
import { type IdPrefix, isId } from "../domain/ids.ts";
import { ZERO } from "../domain/money/money.ts";
import type { AccountStore, NewAccount } from "../domain/ports/account-store.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Clock, Ids, Secrets } from "../domain/ports/runtime.ts";
import type { SessionStore } from "../domain/ports/session-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";

/** The account that keys belong to unless another is named. */
export const DEFAULT_ACCOUNT = "default";
const MAX_NAME_LENGTH = 100;
const CONTROL = /\p{Cc}|\p{Cs}/u;

export interface ManageAccountDeps {
  /** Who acts. */
  readonly actor: Actor;
  readonly accounts: AccountStore;
  readonly usage: Pick<UsageStore, "report">;
  readonly charges: Pick<UsageStore, "chargedSince">;
  readonly sessions: SessionStore;
  readonly addresses: Addresses;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "create">;
  readonly secrets: Secrets;
  /** Names of the operator's content checks; absent if they are not known. */
  readonly checks?: readonly string[] | undefined;
}

/** Adds an account. @returns undefined if the name is in use */
export async function addAccount(
  deps: ManageAccountDeps,
  request: Pick<NewAccount, "name" | "mode" | "credit">,
): Promise<Account | undefined> {
  const account = newAccount(deps, request);
  const result = await deps.accounts.createAccount(account, actNow(deps));
  return result === "created" ? deps.accounts.account(account.id) : undefined;
}

/** The terms of a new account named "default". */
export const DEFAULT_TERMS = { name: DEFAULT_ACCOUNT, mode: "unlimited", credit: ZERO } as const;

/**
 * The account named "default". Creates it, unlimited, if it is missing.
 * @throws AppError `permission_denied` if it is missing and the actor is a token that may give no money away
 */
export async function defaultAccount(deps: ManageAccountDeps): Promise<Account> {
  const existing = await deps.accounts.account(DEFAULT_ACCOUNT);
  if (existing !== undefined) return existing;
  const { actor } = deps;
  if (actor.kind === "token" && !actor.scopes.includes("money"))
    throw new AppError("permission_denied", { kind: "scope_missing", scope: "money", has: actor.scopes });
  const created = await addAccount(deps, DEFAULT_TERMS);
  // Another process may have created the account in between.
  return created ?? findAccount(deps, DEFAULT_ACCOUNT);
}

/** An act of the deps' actor, now. */
export function actNow({ actor, clock }: Pick<ManageAccountDeps, "actor" | "clock">): Act {
  return { actor, at: clock.now() };
}

/** @throws AppError `not_found` */
export async function findAccount({ accounts }: ManageAccountDeps, idOrName: string): Promise<Account> {
  return (await accounts.account(idOrName)) ?? notFound("account", idOrName);
}

/** A new account as it is stored. */
export function newAccount(
  { clock, ids }: ManageAccountDeps,
  request: Pick<NewAccount, "name" | "mode" | "credit">,
): NewAccount {
  return { id: ids.create("acc"), ...request, createdAt: clock.now() };
}

/** A new secret, and the part of it that is stored. */
export function newCredential({ secrets }: ManageAccountDeps, kind: CredentialKind) {
  const secret = formatCredential(kind, secrets.newBody());
  return { secret, stored: { hash: secrets.hash(secret), display: displayOf(secret) } };
}

/**
 * Checks a name that people type and read in tables. A name in the form of an id would hide the record with that id.
 * @throws AppError `invalid_request`
 */
export function checkName(what: "account" | "key" | "token", prefix: IdPrefix, name: string): void {
  const field = "name";
  const length = [...name].length;
  if (length < 1 || length > MAX_NAME_LENGTH) {
    throw invalid({ kind: "name_length", what, field, most: MAX_NAME_LENGTH, length });
  }
  if (CONTROL.test(name) || name.trim() !== name) throw invalid({ kind: "name_characters", what, field });
  if (isId(prefix, name)) throw invalid({ kind: "name_like_id", what, field });
}

/** @throws AppError `not_found`, always */
export function notFound(
  what: "account" | "key" | "token" | "task" | "callback" | "session",
  given: string,
): never {
  throw new AppError("not_found", { kind: "unknown", what, given });
}
