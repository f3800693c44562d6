import type { AccountId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { AccountStore, LedgerRow, StoredLedgerEntry } from "../../../domain/ports/account-store.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { createLastPage } from "../../sqlite/account-store/ledger-reads.ts";
import { LEDGER_COLUMNS, type LedgerEntryRow, toLedgerEntry } from "../../sqlite/ledger-table.ts";
import type { Connection } from "../connection.ts";
import { type Session, statement } from "../session.ts";

const MOST = String(Number.MAX_SAFE_INTEGER);
/**
 * Rows of an account with numbers from one to another, as SQL. Compared so, the one index of both columns serves, in its order: the
 * server knows how many entries accounts have on average, and would read and sort all of an account that has many more.
 */
const between = (account: string, from: string, to: string) =>
  `(account_number, ledger_entry.id) >= (${account}, ${from}) and (account_number, ledger_entry.id) <= (${account}, ${to})`;

const ALL = statement<LedgerEntryRow, [account: string]>(
  `select ${LEDGER_COLUMNS} from ledger_entry where account_number = ${accountNumber("$1")} order by id`,
);
const NOW = statement<{ balance: number }, [account: string]>(
  "select balance_micros as balance from account where id = $1",
);
/** How many entries were merged into sums. */
const SUMMED = statement<{ entries: number }, [account: string]>(
  `select coalesce(sum(entries), 0)::bigint as entries from ledger_entry
   where account_number = ${accountNumber("$1")} and entries is not null`,
);
/** The balance before the row with a number, computed from later movements, because on most pages there are fewer later rows. */
const BALANCE = statement<{ balance: number }, [account: string, before: number]>(
  `select balance_micros - coalesce((select sum(balance_delta_micros) from ledger_entry
     where ${between("account.number", "$2", MOST)}), 0)::bigint as balance
   from account where account.id = $1`,
);
const PAGE = statement<LedgerEntryRow, [account: string, before: number, limit: number]>(
  `select ${LEDGER_COLUMNS} from ledger_entry
   where ${between(accountNumber("$1"), "0", "$2::bigint - 1")}
   order by account_number desc, ledger_entry.id desc limit $3`,
);

/** Movements of an account's money, oldest first. */
export async function allEntries(session: Session, id: AccountId): Promise<StoredLedgerEntry[]> {
  return (await ALL.all(session, id)).map(toLedgerEntry);
}

/**
 * Returns the body of `AccountStore.ledgerPage`. All its reads see the same moment. The page that follows the one that was read last
 * begins with a balance that is known, and passes over no later row.
 */
export function prepareLedgerPage({
  readAtOnce,
}: Pick<Connection, "readAtOnce">): AccountStore["ledgerPage"] {
  const lastPage = createLastPage();
  return (id, { limit, before }) =>
    readAtOnce(async (session): Promise<LedgerRow[]> => {
      const summed = (await SUMMED.get(session, id))?.entries ?? 0;
      const found =
        before === undefined
          ? await NOW.get(session, id)
          : (lastPage.endedAt(id, before, summed) ?? (await BALANCE.get(session, id, before)));
      if (found === undefined) return [];
      let balance = toMicros(found.balance);
      const entries = await PAGE.all(session, id, before ?? Number.MAX_SAFE_INTEGER, limit);
      const rows = entries.map((row) => {
        const entry = { ...toLedgerEntry(row), number: row.id, balance };
        balance = toMicros(balance - entry.balanceDelta);
        return entry;
      });
      lastPage.keep({ id, summed, rows });
      return rows;
    });
}
