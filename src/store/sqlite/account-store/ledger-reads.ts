import type { AccountId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { AccountStore, LedgerRow, StoredLedgerEntry } from "../../../domain/ports/account-store.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import { nextTurn } from "../../../toolkit/next-turn.ts";
import type { Connection } from "../connection.ts";
import { LEDGER_COLUMNS, type LedgerEntryRow, toLedgerEntry } from "../ledger-table.ts";
import { accountNumber } from "./account-table.ts";

/** Rows that are read before other work runs: a few milliseconds' worth. */
const AT_ONCE = 10_000;
/** How often a page is read again because entries were merged into sums meanwhile, before other work has to wait. */
const MOST_TRIES = 5;

type Page = Parameters<AccountStore["ledgerPage"]>[1];

/** Movements of an account's money. */
export function prepareLedgerReads(connection: Connection, atOnce = AT_ONCE) {
  const { db, look, read } = connection;
  const head = db.prepare<{ balance: number; last: number }, [account: string]>(
    `select balance_micros as balance, coalesce((select max(id) from ledger_entry), 0) as last
     from account where id = ?`,
  );
  const count = db.prepare<{ count: number }, [account: string, atMost: number]>(
    `select count(*) as count from (select 1 from ledger_entry indexed by ledger_entry_once where account_number = ${accountNumber("?")} limit ?)`,
  );
  const byNumber = db.prepare<LedgerEntryRow, [id: number]>(
    `select ${LEDGER_COLUMNS} from ledger_entry where id = ?`,
  );
  const statements = madeAtUse({
    all: () =>
      db.prepare<LedgerEntryRow, [account: string]>(
        `select ${LEDGER_COLUMNS} from ledger_entry where account_number = ${accountNumber("?")} order by id`,
      ),
  });
  const rows = prepareRows(connection, atOnce);
  // Over time, more and more entries are merged into sums, which are stored elsewhere.
  const summed = db.prepare<{ entries: number | null }, [account: string]>(
    `select sum(entries) as entries from ledger_entry indexed by ledger_entry_sum
     where account_number = ${accountNumber("?")} and entries is not null`,
  );
  const summedOf = (id: AccountId) => look(() => summed.get(id)?.entries ?? 0);
  const lastPage = createLastPage();

  async function readPage(id: AccountId, { limit, before }: Page, pause: Pause): Promise<LedgerRow[]> {
    const known = lastPage.endedAt(id, before, summedOf(id)) ?? look(() => head.get(id));
    if (known === null) return [];
    const range = { ...known, end: Math.min(before ?? Number.POSITIVE_INFINITY, known.last + 1), limit };
    const isFew = look(() => (count.get(id, atOnce)?.count ?? 0) < atOnce);
    const { after, numbers } = isFew ? rows.ofFew(id, range) : await rows.ofMany(id, range, pause);
    let balance = toMicros(after);
    return look(() =>
      numbers.flatMap((number) => {
        const row = byNumber.get(number);
        if (row === null) return [];
        const entry = { ...toLedgerEntry(row), number: row.id, balance };
        balance = toMicros(balance - entry.balanceDelta);
        return [entry];
      }),
    );
  }

  return {
    all: (id: AccountId): StoredLedgerEntry[] => statements.all.all(id).map(toLedgerEntry),
    /** Rows that are written meanwhile are not counted. If entries are merged into sums meanwhile, the page is read again. */
    async page(id: AccountId, page: Page): Promise<LedgerRow[]> {
      for (let tries = 1; ; tries++) {
        const summed = summedOf(id);
        // The last try runs in one turn, in which nothing can be written.
        const found = await readPage(id, page, tries < MOST_TRIES ? nextTurn : async () => {});
        if (summedOf(id) !== summed) continue;
        lastPage.keep({ id, summed, rows: found });
        return read(() => found);
      }
    },
  };
}

interface ReadPage {
  readonly id: AccountId;
  /** Entries of the account that were merged into sums by then. */
  readonly summed: number;
  readonly rows: readonly LedgerRow[];
}

/** Keeps the page that was read last. The next one begins at one of its rows, and need not pass over all rows before that one. */
export function createLastPage() {
  let page: ReadPage | undefined;
  return {
    keep(read: ReadPage): void {
      page = read;
    },
    /** Later rows leave the balance before a row as it is; merging rows does not. */
    endedAt(id: AccountId, number: number | undefined, summed: number) {
      if (number === undefined || page?.id !== id || page.summed !== summed) return undefined;
      const row = page.rows.find((each) => each.number === number);
      return row && { balance: row.balance - row.balanceDelta, last: number - 1 };
    },
  };
}

/** Lets other work run. */
type Pause = () => Promise<void>;

interface Range {
  /** Of the account after the row numbered `last`. */
  readonly balance: number;
  readonly last: number;
  /** The page has rows before this number. */
  readonly end: number;
  readonly limit: number;
}

/** Finds the rows of a page and the balance after the first of them. */
function prepareRows(connection: Connection, atOnce: number) {
  const { look } = connection;
  // The index finds an account's rows, but not in the order of their numbers.
  const few = prepareRange(connection, "indexed by ledger_entry_once");
  const many = prepareRange(connection, "not indexed");

  /** The balance before the row numbered `end`, and the numbers of the rows before it, of an account that has few. */
  function ofFew(id: AccountId, { balance, last, end, limit }: Range) {
    return look(() => ({
      after: few.balanceBefore(id, balance, end, last),
      numbers: few.numbers(id, 1, end - 1, limit),
    }));
  }

  /** As `ofFew`, through the rows of all accounts, the newest first: the account has so many that some are near. */
  async function ofMany(id: AccountId, { balance, last, end, limit }: Range, pause: Pause) {
    let after = balance;
    for (const { from, to } of downwards(last, end, atOnce)) {
      after = look(() => many.balanceBefore(id, after, from, to));
      await pause();
    }
    const numbers: number[] = [];
    for (const { from, to } of downwards(end - 1, 1, atOnce)) {
      numbers.push(...look(() => many.numbers(id, from, to, limit - numbers.length)));
      if (numbers.length === limit) break;
      await pause();
    }
    return { after, numbers };
  }

  return { ofFew, ofMany };
}

/** Statements over the rows with numbers from one to another, both included. */
function prepareRange({ db }: Connection, index: string) {
  // SQLite subtracts, because what has moved may be more than a number holds exactly.
  const balance = db.prepare<
    { micros: number },
    [account: string, balance: number, from: number, to: number]
  >(
    `select ?2 - coalesce(sum(balance_delta_micros), 0) as micros
     from ledger_entry ${index} where account_number = ${accountNumber("?1")} and id between ?3 and ?4`,
  );
  const numbers = db.prepare<{ id: number }, [account: string, from: number, to: number, limit: number]>(
    `select id from ledger_entry ${index} where account_number = ${accountNumber("?1")} and id between ?2 and ?3 order by id desc limit ?4`,
  );
  return {
    balanceBefore: (id: AccountId, after: number, from: number, to: number): number =>
      balance.get(id, after, from, to)?.micros ?? after,
    numbers: (id: AccountId, from: number, to: number, limit: number): number[] =>
      numbers.all(id, from, to, limit).map(({ id: number }) => number),
  };
}

/** Ranges of at most `step` numbers from `last` down to `first`. */
function* downwards(last: number, first: number, step: number): Generator<{ from: number; to: number }> {
  for (let to = last; to >= first; to -= step) yield { from: Math.max(first, to - step + 1), to };
}
