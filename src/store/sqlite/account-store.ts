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

/** What the store is made of, each made when it is first used. */
interface Parts {
  readonly ledger: Ledger;
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
  const { read, write } = connection;
  const parts: Parts = madeAtUse<Parts>({
    ledger: () => prepareLedger(connection.db),
    accounts: () => prepareAccounts(connection, parts),
    entries: () => prepareLedgerReads(connection),
    refund: () => prepareRefund(connection, parts),
    quotas: () => prepareQuotas(connection.db),
    keys: () => prepareKeys(connection, parts, seal),
    tokens: () => prepareTokens(connection),
    grants: () => createGrantCache(watch, prepareGrant(connection)),
    tokenGrants: () => createGrantCache(watch, parts.tokens.byHash),
  });

  /** Writes, and clears a cache once that is committed. */
  async function writeClearing<T>(cache: { clear(): void }, operation: () => T & Synchronous<T>): Promise<T> {
    const result = await write(operation);
    cache.clear();
    return result;
  }

  return {
    createAccount: (created) => write(() => parts.accounts.create(created)),
    createFirst: (account, key) =>
      write(() => {
        if (parts.accounts.all().length > 0) return "not_first";
        parts.accounts.create(account);
        parts.keys.create(key);
        return "created";
      }),
    accounts: async () => read(() => parts.accounts.all()),
    account: async (idOrName) => read(() => parts.accounts.find(idOrName)),
    updateAccount: (id, change) => writeClearing(parts.grants, () => parts.accounts.update(id, change)),
    credit: (id, amount, reason, actor, now, idempotencyKey) =>
      write(() => parts.accounts.credit(id, amount, { reason, actor, at: now }, idempotencyKey)),
    refund: (task, amount, reason, actor, now) =>
      write(() => parts.refund(task, amount, { reason, actor, at: now })),
    ledger: async (id) => read(() => parts.entries.all(id)),
    ledgerPage: async (id, page) => parts.entries.page(id, page),
    createKey: (key, callbackSecret) => write(() => parts.keys.create(key, callbackSecret)),
    keys: async (owner) => read(() => parts.keys.all(owner)),
    key: async (idOrName) => read(() => parts.keys.find(idOrName)),
    keyQuota: async (id, period) => read(() => parts.quotas.use(id, period)),
    revokeKey: (id, now) => writeClearing(parts.grants, () => parts.keys.revoke(id, now)),
    changeKey: (id, change) => writeClearing(parts.grants, () => parts.keys.change(id, change)),
    rotateKey: (id, rotation) => writeClearing(parts.grants, () => parts.keys.rotate(id, rotation)),
    callbackSecret: async (id) => read(() => parts.keys.callbackSecret(id)),
    grantByHash: (hash, now) => read(() => parts.grants.get(hash, now)),
    createToken: (token) => write(() => parts.tokens.create(token)),
    tokens: async () => read(() => parts.tokens.all()),
    token: async (idOrName) => read(() => parts.tokens.find(idOrName)),
    tokenByHash: (hash, now) => read(() => parts.tokenGrants.get(hash, now)),
    tokenUsed: (id, now) => write(() => parts.tokens.use(id, now)),
    revokeToken: (id, now) => writeClearing(parts.tokenGrants, () => parts.tokens.revoke(id, now)),
  };
}
