import { asc, eq, sql } from "drizzle-orm";
import type { AccountId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { LedgerRow, StoredLedgerEntry } from "../../../domain/ports/account-store.ts";
import type { Connection } from "../connection.ts";
import { ledgerEntry, toLedgerEntry } from "../ledger-table.ts";

/** How many rows of all accounts a page scans before it uses the account's own index. */
const NEAR_ROWS = 10_000;

/** Movements of an account's money. */
export function prepareLedgerReads({ db, orm }: Connection) {
  const last = db.prepare<{ id: number | null }, []>("select max(id) as id from ledger_entry");
  const near = db.prepare<{ id: number }, [account: string, before: number, limit: number]>(
    `select id from ledger_entry not indexed
     where account_id = ?1 and id < ?2 and id >= ?2 - ${NEAR_ROWS} order by id desc limit ?3`,
  );
  // Reads the index alone. It finds an account's rows, but not in the order of their numbers.
  const anywhere = db.prepare<{ id: number }, [account: string, before: number, limit: number]>(
    `select id from ledger_entry indexed by ledger_entry_once
     where account_id = ? and id < ? order by id desc limit ?`,
  );
  const byNumber = orm
    .select()
    .from(ledgerEntry)
    .where(eq(ledgerEntry.id, sql.placeholder("id")))
    .prepare();
  // Not by the account's index: few rows follow a page near the end, but an account may have many. SQLite subtracts, because what
  // has moved since may be more than a number holds exactly.
  const balanceBefore = db.prepare<{ micros: number }, [account: string, from: number]>(
    `select balance_micros - coalesce(
       (select sum(balance_delta_micros) from ledger_entry not indexed where account_id = ?1 and id >= ?2), 0) as micros
     from account where id = ?1`,
  );

  function numbers(id: AccountId, limit: number, before: number): { id: number }[] {
    const found = near.all(id, before, limit);
    return found.length === limit ? found : anywhere.all(id, before, limit);
  }

  return {
    all: (id: AccountId): StoredLedgerEntry[] =>
      orm
        .select()
        .from(ledgerEntry)
        .where(eq(ledgerEntry.accountId, id))
        .orderBy(asc(ledgerEntry.id))
        .all()
        .map(toLedgerEntry),
    page(id: AccountId, { limit, before }: { limit: number; before?: number | undefined }): LedgerRow[] {
      let after = toMicros(balanceBefore.get(id, before ?? Number.MAX_SAFE_INTEGER)?.micros ?? 0);
      const found = numbers(id, limit, before ?? (last.get()?.id ?? 0) + 1);
      return found.flatMap((number) => {
        const row = byNumber.get(number);
        if (row === undefined) return [];
        const entry = { ...toLedgerEntry(row), number: row.id, balance: after };
        after = toMicros(after - row.balanceDelta);
        return [entry];
      });
    },
  };
}
