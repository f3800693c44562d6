import type { Act } from "../../domain/access/actor.ts";
import type {
  Brought,
  ImportBatch,
  ImportMark,
  ImportStore,
  MarkKind,
} from "../../domain/ports/import-store.ts";
import { madeAtUse } from "../../toolkit/made-at-use.ts";
import { type Accounts, prepareAccounts } from "./account-store/accounts.ts";
import { prepareKeys } from "./account-store/keys.ts";
import type { Connection } from "./connection.ts";
import { type Ledger, prepareLedger } from "./ledger.ts";
import { prepareQuotas, type Quotas } from "./quotas.ts";
import { prepareTrail, type Trail } from "./trail.ts";

interface Parts {
  readonly ledger: Ledger;
  readonly trail: Trail;
  readonly quotas: Quotas;
  readonly accounts: Accounts;
  readonly keys: ReturnType<typeof prepareKeys>;
}

/** Undoes the transaction, and says why. */
export class Clash extends Error {
  override readonly name = "Clash";
  constructor(
    readonly of: MarkKind,
    readonly what: string,
  ) {
    super(`${of} ${what}`);
  }
}

/** What was brought from other gateways, in SQLite. */
export function createImportStore(connection: Connection): ImportStore {
  const { db, read, write } = connection;
  const parts: Parts = madeAtUse<Parts>({
    ledger: () => prepareLedger(connection),
    trail: () => prepareTrail(db),
    quotas: () => prepareQuotas(db),
    accounts: () => prepareAccounts(connection, parts),
    // What is brought has no callback secret.
    keys: () => prepareKeys(connection, parts, undefined),
  });
  const statements = madeAtUse({
    of: () =>
      db.prepare<ImportMark, [source: string]>(
        "select kind, origin, target from import_mark where source = ? order by kind, origin",
      ),
    mark: () =>
      db.prepare("insert or ignore into import_mark (source, kind, origin, target) values (?, ?, ?, ?)"),
    hasHash: () =>
      db.prepare<{ taken: 1 }, [hash: string, same: string]>(
        "select 1 as taken from api_key where hash = ? or previous_hash = ? limit 1",
      ),
  });

  function mark(source: string, kind: MarkKind, origin: string, target: string, name: string): void {
    if (statements.mark.run(source, kind, origin, target).changes !== 1) throw new Clash(kind, name);
  }

  function bring({ source, accounts, keys }: ImportBatch, act: Act): void {
    for (const { origin, account, terms } of accounts) {
      if (parts.accounts.create(account, act) !== "created") throw new Clash("account", account.name);
      if (typeof parts.accounts.update(account.id, terms, act) === "string")
        throw new Clash("account", account.name);
      mark(source, "account", origin, account.id, account.name);
    }
    for (const { origin, key } of keys) {
      if (statements.hasHash.get(key.hash, key.hash) !== null) throw new Clash("key", key.name);
      if (parts.keys.create(key, undefined, act) !== "created") throw new Clash("key", key.name);
      mark(source, "key", origin, key.id, key.name);
    }
  }

  return {
    marks: async (source) => read(() => statements.of.all(source)),
    async bringIn(batch, act): Promise<Brought> {
      try {
        await write(() => bring(batch, act));
        return { kind: "brought" };
      } catch (error) {
        if (error instanceof Clash) return { kind: "clash", of: error.of, name: error.what };
        throw error;
      }
    },
  };
}
