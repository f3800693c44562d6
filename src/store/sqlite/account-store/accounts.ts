import { and, eq, sql } from "drizzle-orm";
import { type Account, availableOf } from "../../../domain/access/account.ts";
import { type Act, ledgerActor } from "../../../domain/access/actor.ts";
import type { AccountId } from "../../../domain/ids.ts";
import { beginningOf } from "../../../domain/lists.ts";
import { creditEntry } from "../../../domain/money/ledger.ts";
import { type Micros, ZERO } from "../../../domain/money/money.ts";
import type { AccountChange, Credit, ListPage, NewAccount } from "../../../domain/ports/account-store.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import { AVAILABLE } from "../account-sums.ts";
import type { Connection } from "../connection.ts";
import type { Ledger } from "../ledger.ts";
import type { Trail } from "../trail.ts";
import { type AccountRow, account, toAccount } from "./account-table.ts";
import { creditKey } from "./credit-key-table.ts";
import { prepareNames } from "./names.ts";
import { accountChanged, accountCredited, accountMade } from "./notes.ts";

/** The accounts in use that have less left than their level, or had and were told of it. */
export const LOW_ACCOUNTS = `select * from account
   where low_balance_micros is not null and (${AVAILABLE} < low_balance_micros or low_balance_told = 1)
     and status = 'active' order by id`;

/** Finds accounts. Raw statements: most commands on a data folder need no others, and the first query that drizzle builds takes milliseconds. */
function prepareFind({ db }: Connection) {
  const statements = madeAtUse({
    byId: () => db.prepare<AccountRow, [id: string]>("select * from account where id = ?"),
    byName: () => db.prepare<AccountRow, [name: string]>("select * from account where name = ?"),
    page: () =>
      db.prepare<AccountRow, [after: string, limit: number]>(
        "select * from account where id > ? order by id limit ?",
      ),
    pageBack: () =>
      db.prepare<AccountRow, [after: string, limit: number]>(
        "select * from account where id < ? order by id desc limit ?",
      ),
    any: () => db.prepare<{ found: 1 }, []>("select 1 as found from account limit 1"),
    low: () => db.prepare<AccountRow, []>(LOW_ACCOUNTS),
  });
  const byId = (id: string): Account | undefined => statements.byId.all(id).map(toAccount)[0];
  const byName = (name: string): Account | undefined => statements.byName.all(name).map(toAccount)[0];
  return {
    byId,
    byName,
    find: (idOrName: string) => byId(idOrName) ?? byName(idOrName),
    page({ order = "asc", after = beginningOf(order), limit }: ListPage): Account[] {
      const statement = order === "asc" ? statements.page : statements.pageBack;
      return statement.all(after, limit).map(toAccount);
    },
    isAny: () => statements.any.get() !== null,
    names: prepareNames(db, "account"),
    low: (): Account[] => statements.low.all().map(toAccount),
  };
}

/** Remembers which credits were made with an idempotency key. */
function prepareCreditKeys({ orm }: Connection) {
  const isKey = and(
    eq(creditKey.accountId, sql.placeholder("account")),
    eq(creditKey.key, sql.placeholder("key")),
  );
  const rows = orm.select().from(creditKey).where(isKey).prepare();
  return {
    used: (account: AccountId, key: string) => rows.all({ account, key })[0],
    use: (row: typeof creditKey.$inferInsert) => void orm.insert(creditKey).values(row).run(),
  };
}

/** Once the balance suffices again, the next low balance is reported again. */
function prepareClearTold({ db }: Connection) {
  const clear = db.prepare<never, [account: string]>(
    `update account set low_balance_told = 0 where id = ? and low_balance_told = 1
       and ${AVAILABLE} >= coalesce(low_balance_micros, -9007199254740991)`,
  );
  return (id: AccountId) => void clear.run(id);
}

/** Appends a credit to the ledger, once for each idempotency key. */
function prepareCredit(
  connection: Connection,
  use: { readonly ledger: Ledger; readonly trail: Trail },
  byId: (id: string) => Account | undefined,
) {
  const later = madeAtUse({ keyed: () => prepareCreditKeys(connection) });
  return function credit(id: AccountId, amount: Micros, reason: string, act: Act, key?: string): Credit {
    const before = byId(id);
    if (before === undefined) return { kind: "not_found" };
    const used = key === undefined ? undefined : later.keyed.used(id, key);
    if (used !== undefined) {
      const isSame = used.amount === amount && used.reason === reason;
      return isSame ? { kind: "replayed", account: before } : { kind: "conflict" };
    }
    if (amount === 0) return { kind: "credited", account: before };
    const available = availableOf(before);
    if (available !== undefined && amount < 0 && available + amount < 0)
      return { kind: "too_low", account: before };
    if (!Number.isSafeInteger(before.balance + amount)) return { kind: "uncountable", account: before };
    use.ledger.post(id, [creditEntry(amount, reason, ledgerActor(act.actor))], act.at);
    if (key !== undefined) later.keyed.use({ accountId: id, key, amount, reason });
    const after = byId(id) ?? before;
    use.trail(act, accountCredited(before, after, amount, reason));
    return { kind: "credited", account: after };
  };
}

export type Accounts = ReturnType<typeof prepareAccounts>;

/** Creates, changes and credits accounts. */
export function prepareAccounts(
  connection: Connection,
  use: { readonly ledger: Ledger; readonly trail: Trail },
) {
  const { orm } = connection;
  const { byName, ...found } = prepareFind(connection);
  const { byId } = found;
  const later = madeAtUse({ clearTold: () => prepareClearTold(connection) });

  return {
    ...found,
    create({ id, name, mode, credit, createdAt }: NewAccount, act?: Act) {
      if (byName(name) !== undefined) return "name_taken" as const;
      orm
        .insert(account)
        .values({ id, name, mode, status: "active", balance: ZERO, held: ZERO, createdAt })
        .run();
      if (credit > 0) use.ledger.post(id, [creditEntry(credit, "first credit", actorOf(act))], createdAt);
      use.trail(act, accountMade(byId(id), credit));
      return "created" as const;
    },
    update(id: AccountId, change: AccountChange, act?: Act): Account | "overdrawn" | "not_found" {
      const before = byId(id);
      if (before === undefined) return "not_found";
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      if (given.length === 0) return before;
      const { mode = before.mode, creditLimit = before.creditLimit } = change;
      if ((availableOf({ ...before, mode, creditLimit }) ?? 0) < 0) return "overdrawn";
      orm.update(account).set(Object.fromEntries(given)).where(eq(account.id, id)).run();
      later.clearTold(id);
      const after = byId(id) ?? before;
      use.trail(act, accountChanged(before, after));
      return after;
    },
    credit: prepareCredit(connection, use, byId),
  };
}

const actorOf = (act: Act | undefined) => (act === undefined ? "operator" : ledgerActor(act.actor));
