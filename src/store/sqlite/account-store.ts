import type { KeyGrant, ManagementToken } from "../../domain/access/account.ts";
import type { AccountStore } from "../../domain/ports/account-store.ts";
import type { Seal } from "../../domain/ports/runtime.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import { type Accounts, prepareAccounts } from "./account-store/accounts.ts";
import { prepareGrant } from "./account-store/key-grants.ts";
import { prepareKeys } from "./account-store/keys.ts";
import { prepareLedgerReads } from "./account-store/ledger-reads.ts";
import { prepareRefund } from "./account-store/refund.ts";
import { prepareTokens } from "./account-store/tokens.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache, type GrantCache } from "./grant-cache.ts";
import type { Synchronous } from "./group-commit.ts";
import { type Ledger, prepareLedger } from "./ledger.ts";
import { prepareQuotas, type Quotas } from "./quotas.ts";
import { prepareTrail, type Trail } from "./trail.ts";

/** The parts of the store, each created on first use. */
interface Parts {
  readonly ledger: Ledger;
  readonly trail: Trail;
  readonly accounts: Accounts;
  readonly entries: ReturnType<typeof prepareLedgerReads>;
  readonly refund: ReturnType<typeof prepareRefund>;
  readonly quotas: Quotas;
  readonly keys: ReturnType<typeof prepareKeys>;
  readonly tokens: ReturnType<typeof prepareTokens>;
  readonly grants: GrantCache<KeyGrant>;
  readonly tokenGrants: GrantCache<ManagementToken>;
}

/** Accounts, keys and tokens in SQLite. */
export function createAccountStore(connection: Connection, watch: ChangeWatch, seal?: Seal): AccountStore {
  const { read, look, write } = connection;
  const parts: Parts = madeAtUse<Parts>({
    ledger: () => prepareLedger(connection),
    trail: () => prepareTrail(connection.db),
    accounts: () => prepareAccounts(connection, parts),
    entries: () => prepareLedgerReads(connection),
    refund: () => prepareRefund(connection, parts),
    quotas: () => prepareQuotas(connection.db),
    keys: () => prepareKeys(connection, parts, seal),
    tokens: () => prepareTokens(connection, parts),
    grants: () => createGrantCache(watch, prepareGrant(connection)),
    tokenGrants: () => createGrantCache(watch, parts.tokens.byHash),
  });

  /** Writes, and clears a cache after the write is committed. */
  async function writeClearing<T>(cache: { clear(): void }, operation: () => T & Synchronous<T>): Promise<T> {
    const result = await write(operation);
    cache.clear();
    return result;
  }

  return {
    createAccount: (created, act) => write(() => parts.accounts.create(created, act)),
    createFirst: (account, key, act) =>
      write(() => {
        if (parts.accounts.isAny()) return "not_first";
        parts.accounts.create(account, act);
        parts.keys.create(key, undefined, act);
        return "created";
      }),
    lowAccounts: async () => read(() => parts.accounts.low()),
    account: async (idOrName) => read(() => parts.accounts.find(idOrName)),
    updateAccount: (id, change, act) =>
      writeClearing(parts.grants, () => parts.accounts.update(id, change, act)),
    credit: (id, amount, reason, act, idempotencyKey) =>
      write(() => parts.accounts.credit(id, amount, reason, act, idempotencyKey)),
    refund: (task, amount, reason, act) => write(() => parts.refund(task, amount, reason, act)),
    ledger: async (id) => read(() => parts.entries.all(id)),
    ledgerPage: async (id, page) => parts.entries.page(id, page),
    createKey: (key, callbackSecret, act) => write(() => parts.keys.create(key, callbackSecret, act)),
    key: async (idOrName) => read(() => parts.keys.find(idOrName)),
    keyQuota: async (id, period) => read(() => parts.quotas.use(id, period)),
    keyQuotas: async (asked) => read(() => asked.map(({ id, period }) => parts.quotas.use(id, period))),
    revokeKey: (id, now, act) => writeClearing(parts.grants, () => parts.keys.revoke(id, now, act)),
    changeKey: (id, change, act) => writeClearing(parts.grants, () => parts.keys.change(id, change, act)),
    rotateKey: (id, rotation, act) => writeClearing(parts.grants, () => parts.keys.rotate(id, rotation, act)),
    callbackSecret: async (id) => look(() => parts.keys.callbackSecret(id)),
    grantByHash: (hash, now) => look(() => parts.grants.get(hash, now)),
    ...listsOf(parts, read),
    createToken: (token, act) => write(() => parts.tokens.create(token, act)),
    token: async (idOrName) => read(() => parts.tokens.find(idOrName)),
    tokenByHash: (hash, now) => look(() => parts.tokenGrants.get(hash, now)),
    tokenUsed: (id, now) => write(() => parts.tokens.use(id, now)),
    revokeToken: (id, now, act) => writeClearing(parts.tokenGrants, () => parts.tokens.revoke(id, now, act)),
  };
}

/** Lists, and names. */
function listsOf(
  parts: Parts,
  read: Connection["read"],
): Pick<
  AccountStore,
  "accounts" | "accountNames" | "keys" | "keyNames" | "keysNamed" | "tokens" | "revokedToken"
> {
  return {
    accounts: async (page) => read(() => parts.accounts.page(page)),
    accountNames: async (ids) => read(() => parts.accounts.names(ids)),
    keys: async (page) => read(() => parts.keys.page(page)),
    keyNames: async (ids) => read(() => parts.keys.names(ids)),
    keysNamed: async (...given) => read(() => parts.keys.named(...given)),
    tokens: async (page) => read(() => parts.tokens.page(page)),
    revokedToken: async (name) => read(() => parts.tokens.revoked(name)),
  };
}
