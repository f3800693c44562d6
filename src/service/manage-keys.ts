import type { Account, ApiKey, KeyChange } from "../domain/access/account.ts";
import { changePolicy, OPEN_POLICY } from "../domain/access/key-policy.ts";
import { dayOf } from "../domain/day.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import type { ListQuery, ListSlice } from "../domain/lists.ts";
import type { MicrosSum } from "../domain/money/money.ts";
import type { Quota } from "../domain/money/quota.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import { checkGrace, checkKeyTerms, type KeyTerms, NEW_SECRET } from "./key-terms.ts";
import { readPart } from "./lists.ts";
import {
  actNow,
  checkName,
  defaultAccount,
  findAccount,
  type ManageAccountDeps,
  newCredential,
  notFound,
} from "./management.ts";

/** The most keys of one name that a refusal lists. */
const MOST_NAMED = 10;

/** A key to create. Terms that it does not mention are not limited. */
export type KeyRequest = KeyTerms & {
  readonly name: string;
  /** Id or name of the account it belongs to. */
  readonly account?: string | undefined;
};

/** Which part of the list of keys is wanted. */
export interface KeyListQuery extends ListQuery {
  /** Id or name of the account whose keys are listed; all unless given. */
  readonly account?: string | undefined;
  /** With it, the list says what was charged to each key in so many days, today included. */
  readonly chargedDays?: number | undefined;
}

/** A key in a list, with the name of its account, and what it was charged where that is asked for. */
export type ListedKey = ApiKey & { readonly accountName: string; readonly charged?: MicrosSum | undefined };

/** A key after a change. */
export interface ChangedKey {
  readonly record: ApiKey;
  /** The secret that was generated for its callbacks, if any. Nothing can show it again. */
  readonly callbackSecret?: string | undefined;
}

/** An API key with a new secret. `key` is the credential itself. Nothing can show it again. */
export interface NewKey extends ChangedKey {
  readonly key: string;
  readonly account: Account;
}

/** The part of `ManageAccounts` for API keys. */
export function keyVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;

  const check = (terms: KeyTerms, quota?: Quota) =>
    checkKeyTerms(terms, { ...deps, now: clock.now(), quota });

  /** Returns only a secret that was generated here, because a caller who gave one knows it. */
  const madeBy = ({ callbackSecret }: KeyTerms, { signing }: KeyChange): string | undefined =>
    callbackSecret === NEW_SECRET ? signing?.secret : undefined;

  const findKey = (idOrName: string) => findStoredKey(deps, idOrName);

  return {
    /** The key belongs to the account "default" unless another is named. That account is created, unlimited, if it is missing. */
    async createKey(request: KeyRequest): Promise<NewKey> {
      const { name, account: owner } = request;
      checkName("key", "key", name);
      // Checked first, so that refused terms do not leave a new account behind.
      const change = check(request);
      const account = owner === undefined ? await defaultAccount(deps) : await findAccount(deps, owner);
      const made = await createKeyIn(deps, account, name, change);
      return { ...made, callbackSecret: madeBy(request, change) };
    },
    /**
     * Keys, revoked ones included.
     * @throws AppError `not_found` for an unknown account
     */
    listKeys: (query?: KeyListQuery) => listKeys(deps, query),
    showKey: findKey,
    /** Changes only what is given. */
    async updateKey(idOrName: string, terms: KeyTerms): Promise<ChangedKey> {
      const { id, policy } = await findKey(idOrName);
      const change = check(terms, policy.quota);
      const record = changedKey(idOrName, await accounts.changeKey(id, change, actNow(deps)));
      return { record, callbackSecret: madeBy(terms, change) };
    },
    /**
     * Gives a key another secret. Its id, name, limits and callback secret stay. The old secret is accepted for `graceMs` more,
     * by default not at all. Ends the grace period of an earlier rotation.
     */
    async rotateKey(idOrName: string, { graceMs = 0 } = {}): Promise<NewKey> {
      checkGrace("grace_seconds", graceMs);
      const found = await findKey(idOrName);
      const { secret, stored } = newCredential(deps, "api_key");
      const previousExpiresAt = graceMs === 0 ? undefined : clock.now() + graceMs;
      const rotated = await accounts.rotateKey(found.id, { ...stored, previousExpiresAt }, actNow(deps));
      const record = changedKey(idOrName, rotated);
      return { key: secret, record, account: await findAccount(deps, record.accountId) };
    },
    /** Revoking again changes nothing. */
    async revokeKey(idOrName: string): Promise<ApiKey> {
      const { id } = await findKey(idOrName);
      await accounts.revokeKey(id, clock.now(), actNow(deps));
      return findKey(id);
    },
  };
}

async function* listKeys(
  deps: ManageAccountDeps,
  { account: owner, chargedDays, ...query }: KeyListQuery = {},
): AsyncGenerator<ListSlice<ListedKey>> {
  const { accounts } = deps;
  const account = owner === undefined ? undefined : (await findAccount(deps, owner)).id;
  for await (const slice of readPart("key", (page) => accounts.keys({ ...page, account }), query)) {
    const names = await accounts.accountNames([...new Set(slice.items.map((key) => key.accountId))]);
    const since = chargedDays === undefined ? undefined : dayOf(deps.clock.now()) - chargedDays + 1;
    const charges = since === undefined ? [] : await deps.charges.chargedSince(slice.items, since);
    const named = (key: ApiKey, place: number) => ({
      ...key,
      accountName: names.get(key.accountId) ?? key.accountId,
      charged: charges[place],
    });
    yield { ...slice, items: slice.items.map(named) };
  }
}

function changedKey(idOrName: string, result: ApiKey | "revoked" | "not_found"): ApiKey {
  if (result === "not_found") return notFound("key", idOrName);
  if (result !== "revoked") return result;
  throw invalid({ kind: "key_revoked", field: "key", given: idOrName });
}

async function createKeyIn(deps: ManageAccountDeps, account: Account, name: string, change: KeyChange) {
  const { key, record } = newKeyOf(deps, account.id, name, change);
  const result = await deps.accounts.createKey(record, change.signing?.secret, actNow(deps));
  if (result === "created") return { key, record, account };
  if (result === "no_account") return notFound("account", account.name);
  throw invalid({ kind: "key_taken", field: "name", account: account.name, name });
}

/** A key that is not stored yet. */
export function newKeyOf(deps: ManageAccountDeps, accountId: AccountId, name: string, change: KeyChange) {
  const { secret, stored } = newCredential(deps, "api_key");
  const record: ApiKey = {
    id: deps.ids.create("key"),
    accountId,
    name,
    ...stored,
    policy: changePolicy(OPEN_POLICY, change.policy),
    signsCallbacks: Boolean(change.signing),
    createdAt: deps.clock.now(),
    expiresAt: change.expiresAt ?? undefined,
  };
  return { key: secret, record };
}

/**
 * Finds a key by its id, or by its name among the keys that are not revoked.
 * @throws AppError `not_found`; `invalid_request` if several accounts have a key of that name
 */
export async function findStoredKey(
  { accounts }: { readonly accounts: Pick<AccountStore, "key" | "keysNamed"> },
  idOrName: string,
): Promise<ApiKey> {
  const found = await accounts.key(idOrName);
  if (found !== undefined) return found;
  const named = await accounts.keysNamed(idOrName, MOST_NAMED + 1);
  const [first] = named;
  if (first === undefined) return notFound("key", idOrName);
  if (first.revokedAt !== undefined) {
    throw new AppError("not_found", { kind: "keys_revoked", name: idOrName, id: first.id });
  }
  const ids = named
    .slice(0, MOST_NAMED)
    .map((key) => key.id)
    .reverse();
  const isMore = named.length > MOST_NAMED;
  throw invalid({ kind: "key_ambiguous", field: "key", name: idOrName, ids, isMore });
}
