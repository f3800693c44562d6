import type { AccountId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { AccountStore, LedgerRow, StoredLedgerEntry } from "../../../domain/ports/account-store.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { LEDGER_COLUMNS, type LedgerEntryRow, toLedgerEntry } from "../../sqlite/ledger-table.ts";
import type { Connection } from "../connection.ts";
import { type Session, statement } from "../session.ts";

const ALL = statement<LedgerEntryRow, [account: string]>(
  `select ${LEDGER_COLUMNS} from ledger_entry where account_number = ${accountNumber("$1")} order by id`,
);
/** The balance before the row with a number, computed from later movements, because on most pages there are fewer later rows. */
const BALANCE = statement<{ balance: number }, [account: string, before: number]>(
  `select balance_micros - coalesce((select sum(balance_delta_micros) from ledger_entry
     where account_number = account.number and ledger_entry.id >= $2), 0)::bigint as balance
   from account where account.id = $1`,
);
const PAGE = statement<LedgerEntryRow, [account: string, before: number, limit: number]>(
  `select ${LEDGER_COLUMNS} from ledger_entry
   where account_number = ${accountNumber("$1")} and id < $2 order by id desc limit $3`,
);

/** Movements of an account's money, oldest first. */
export async function allEntries(session: Session, id: AccountId): Promise<StoredLedgerEntry[]> {
  return (await ALL.all(session, id)).map(toLedgerEntry);
}

/** Returns the body of `AccountStore.ledgerPage`. All its reads see the same moment. */
export function prepareLedgerPage({
  readAtOnce,
}: Pick<Connection, "readAtOnce">): AccountStore["ledgerPage"] {
  return (id, { limit, before = Number.MAX_SAFE_INTEGER }) =>
    readAtOnce(async (session): Promise<LedgerRow[]> => {
      const found = await BALANCE.get(session, id, before);
      if (found === undefined) return [];
      let balance = toMicros(found.balance);
      return (await PAGE.all(session, id, before, limit)).map((row) => {
        const entry = { ...toLedgerEntry(row), number: row.id, balance };
        balance = toMicros(balance - entry.balanceDelta);
        return entry;
      });
    });
}
