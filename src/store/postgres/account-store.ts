import type { KeyGrant, ManagementToken } from "../../domain/access/account.ts";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import type { AccountStore } from "../../domain/ports/account-store.ts";
import type { Seal } from "../../domain/ports/runtime.ts";
import {
  accountPage,
  createAccounts,
  findAccountOrName,
  isWithoutAccounts,
  lowAccounts,
} from "./account-store/accounts.ts";
import { grantOf } from "./account-store/key-grants.ts";
import { createKeys, findKey, keyPage, keysNamed, ownerOf } from "./account-store/keys.ts";
import { allEntries, prepareLedgerPage } from "./account-store/ledger-reads.ts";
import { accountNames, keyNames } from "./account-store/names.ts";
import { chargedFor, prepareRefund } from "./account-store/refund.ts";
import {
  createToken,
  findToken,
  revokedToken,
  revokeToken,
  tokenOf,
  tokenPage,
  useToken,
} from "./account-store/tokens.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache, type GrantCache } from "./grant-cache.ts";
import type { Ledger } from "./ledger.ts";
import { quotaUse, quotaUses } from "./quota-allowance.ts";
import type { Readers } from "./replica.ts";
import type { Session } from "./session.ts";

interface AccountStoreDeps {
  readonly ledger: Ledger;
  readonly watch: ChangeWatch;
  readonly seal?: Seal | undefined;
  /** Reads pages of the ledger, which may be some seconds old. */
  readonly readers?: Readers | undefined;
}

/** Accounts, keys and tokens in PostgreSQL. */
export function createAccountStore(connection: Connection, deps: AccountStoreDeps) {
  const { ledger, watch, seal, readers = connection } = deps;
  const { read, readAtOnce, write, writeFor } = connection;
  const accounts = createAccounts({ ledger });
  const keys = createKeys(seal);
  const refund = prepareRefund({ ledger });
  const grants = createGrantCache<KeyGrant>(watch, "keys", (hash) => read((on) => grantOf(on, hash)));

  /** Runs a write while holding the row of the account to which something known by its id belongs. */
  async function writeForOwner<T>(
    owner: AccountId | undefined,
    operation: (session: Session) => Promise<T>,
  ): Promise<T> {
    return owner === undefined ? write(operation) : writeFor(owner, operation);
  }

  async function writeForKey<T>(id: KeyId, operation: (session: Session) => Promise<T>): Promise<T> {
    const owner = await read((session) => ownerOf(session, id));
    return changing(grants, writeForOwner(owner, operation));
  }

  const store: AccountStore = {
    createAccount: (created, act) => write((session) => accounts.create(session, created, act)),
    createFirst: (account, key, act) =>
      write(async (session) => {
        if (!(await isWithoutAccounts(session))) return "not_first";
        await accounts.create(session, account, act);
        await keys.create(session, key, undefined, act);
        return "created";
      }),
    lowAccounts: () => read(lowAccounts),
    account: (idOrName) => read((session) => findAccountOrName(session, idOrName)),
    updateAccount: (id, change, act) =>
      changing(
        grants,
        writeFor(id, (session) => accounts.update(session, id, change, act)),
      ),
    credit: (...given) => writeFor(given[0], (session) => accounts.credit(session, given)),
    async refund(...given) {
      const [id, amount] = given;
      if (amount !== undefined && amount <= 0) throw new RangeError(`Not an amount to refund: ${amount}`);
      const task = await read((session) => chargedFor(session, id));
      return writeForOwner(task?.account_id, (session) => refund(session, given));
    },
    ledger: (id) => read((session) => allEntries(session, id)),
    ledgerPage: prepareLedgerPage(readers),
    createKey: (...given) => writeFor(given[0].accountId, (session) => keys.create(session, ...given)),
    key: (idOrName) => read((session) => findKey(session, idOrName)),
    keyQuota: (id, period) => readAtOnce((session) => quotaUse(session, id, period)),
    keyQuotas: (asked) => readAtOnce((session) => quotaUses(session, asked)),
    revokeKey: (id, now, act) => writeForKey(id, (session) => keys.revoke(session, id, now, act)),
    changeKey: (id, change, act) => writeForKey(id, (session) => keys.change(session, id, change, act)),
    rotateKey: (id, rotation, act) => writeForKey(id, (session) => keys.rotate(session, id, rotation, act)),
    callbackSecret: (id) => read((session) => keys.callbackSecret(session, id)),
    grantByHash: (hash) => grants.get(hash),
    ...listsOn(connection),
    ...tokensOn(connection, watch),
  };
  return store;
}

/** Lists of accounts and keys. */
function listsOn({
  read,
}: Connection): Pick<AccountStore, "accounts" | "accountNames" | "keys" | "keyNames" | "keysNamed"> {
  return {
    accounts: (page) => read((session) => accountPage(session, page)),
    accountNames: (ids) => read((session) => accountNames(session, ids)),
    keys: (page) => read((session) => keyPage(session, page)),
    keyNames: (ids) => read((session) => keyNames(session, ids)),
    keysNamed: (...given) => read((session) => keysNamed(session, ...given)),
  };
}

/** Clears the caches here and in other processes after a write is committed. */
async function changing<Grant, T>(cache: GrantCache<Grant>, writing: Promise<T>): Promise<T> {
  const result = await writing;
  await cache.changed();
  return result;
}

/** Management tokens. */
function tokensOn({ read, write }: Connection, watch: ChangeWatch) {
  const tokenGrants = createGrantCache<ManagementToken>(watch, "tokens", (hash) =>
    read((session) => tokenOf(session, hash)),
  );
  const tokens: Pick<
    AccountStore,
    "createToken" | "tokens" | "token" | "revokedToken" | "tokenByHash" | "tokenUsed" | "revokeToken"
  > = {
    createToken: (token, act) => write((session) => createToken(session, token, act)),
    tokens: (page) => read((session) => tokenPage(session, page)),
    token: (idOrName) => read((session) => findToken(session, idOrName)),
    revokedToken: (name) => read((session) => revokedToken(session, name)),
    tokenByHash: (hash) => tokenGrants.get(hash),
    tokenUsed: (id, now) => write((session) => useToken(session, id, now)),
    revokeToken: (id, now, act) =>
      changing(
        tokenGrants,
        write((session) => revokeToken(session, id, now, act)),
      ),
  };
  return tokens;
}
