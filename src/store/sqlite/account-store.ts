import type { AccountStore } from "../../domain/ports/account-store.ts";
import type { Seal } from "../../domain/ports/runtime.ts";
import { prepareAccounts } from "./account-store/accounts.ts";
import { prepareGrant } from "./account-store/key-grants.ts";
import { prepareKeys } from "./account-store/keys.ts";
import { prepareLedgerReads } from "./account-store/ledger-reads.ts";
import { prepareRefund } from "./account-store/refund.ts";
import { prepareTokens } from "./account-store/tokens.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache } from "./grant-cache.ts";
import type { Synchronous } from "./group-commit.ts";
import { prepareLedger } from "./ledger.ts";
import { prepareQuotas } from "./quotas.ts";

/** Accounts, keys and tokens in SQLite. */
export function createAccountStore(connection: Connection, watch: ChangeWatch, seal?: Seal): AccountStore {
  const { read, write } = connection;
  const ledger = prepareLedger(connection.db);
  const accounts = prepareAccounts(connection, ledger);
  const entries = prepareLedgerReads(connection);
  const refund = prepareRefund(connection, ledger, accounts.byId);
  const quotas = prepareQuotas(connection.db);
  const keys = prepareKeys(connection, quotas, { accountById: accounts.byId, seal });
  const tokens = prepareTokens(connection);
  const grants = createGrantCache(watch, prepareGrant(connection));
  const tokenGrants = createGrantCache(watch, tokens.byHash);

  /** Writes, and clears a cache once that is committed. */
  async function writeClearing<T>(cache: { clear(): void }, operation: () => T & Synchronous<T>): Promise<T> {
    const result = await write(operation);
    cache.clear();
    return result;
  }

  return {
    createAccount: (created) => write(() => accounts.create(created)),
    createFirst: (account, key) =>
      write(() => {
        if (accounts.all().length > 0) return "not_first";
        accounts.create(account);
        keys.create(key);
        return "created";
      }),
    accounts: async () => read(() => accounts.all()),
    account: async (idOrName) => read(() => accounts.find(idOrName)),
    updateAccount: (id, change) => writeClearing(grants, () => accounts.update(id, change)),
    credit: (id, amount, reason, actor, now, idempotencyKey) =>
      write(() => accounts.credit(id, amount, { reason, actor, at: now }, idempotencyKey)),
    refund: (task, amount, reason, actor, now) =>
      write(() => refund(task, amount, { reason, actor, at: now })),
    ledger: async (id) => read(() => entries.all(id)),
    ledgerPage: async (id, page) => read(() => entries.page(id, page)),
    createKey: (key, callbackSecret) => write(() => keys.create(key, callbackSecret)),
    keys: async (owner) => read(() => keys.all(owner)),
    key: async (idOrName) => read(() => keys.find(idOrName)),
    keyQuota: async (id, period) => read(() => quotas.use(id, period)),
    revokeKey: (id, now) => writeClearing(grants, () => keys.revoke(id, now)),
    changeKey: (id, change) => writeClearing(grants, () => keys.change(id, change)),
    rotateKey: (id, rotation) => writeClearing(grants, () => keys.rotate(id, rotation)),
    callbackSecret: async (id) => read(() => keys.callbackSecret(id)),
    grantByHash: (hash, now) => read(() => grants.get(hash, now)),
    createToken: (token) => write(() => tokens.create(token)),
    tokens: async () => read(() => tokens.all()),
    token: async (idOrName) => read(() => tokens.find(idOrName)),
    tokenByHash: (hash, now) => read(() => tokenGrants.get(hash, now)),
    revokeToken: (id, now) => writeClearing(tokenGrants, () => tokens.revoke(id, now)),
  };
}
