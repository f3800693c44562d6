import type { AccountStore } from "../../domain/ports/account-store.ts";
import type { Seal } from "../../domain/ports/runtime.ts";
import { allAccounts, createAccounts, findAccountOrName } from "./account-store/accounts.ts";
import { createKeys } from "./account-store/keys.ts";
import { allEntries } from "./account-store/ledger-reads.ts";
import type { Connection } from "./connection.ts";
import type { Ledger } from "./ledger.ts";

type Made = "createAccount" | "accounts" | "account" | "ledger" | "createKey" | "credit" | "updateAccount";

/** Accounts, keys and tokens in PostgreSQL. */
export function createAccountStore(
  { read, write, writeFor }: Connection,
  { ledger, seal }: { readonly ledger: Ledger; readonly seal?: Seal | undefined },
): Pick<AccountStore, Made> {
  const accounts = createAccounts({ ledger });
  const keys = createKeys(seal);
  return {
    createAccount: (created, act) => write((session) => accounts.create(session, created, act)),
    accounts: () => read(allAccounts),
    account: (idOrName) => read((session) => findAccountOrName(session, idOrName)),
    updateAccount: (id, change, act) => writeFor(id, (session) => accounts.update(session, id, change, act)),
    credit: (...given) => writeFor(given[0], (session) => accounts.credit(session, given)),
    ledger: (id) => read((session) => allEntries(session, id)),
    createKey: (key, secret, act) =>
      writeFor(key.accountId, (session) => keys.create(session, key, secret, act)),
  };
}
