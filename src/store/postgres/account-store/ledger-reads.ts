import type { AccountId } from "../../../domain/ids.ts";
import type { StoredLedgerEntry } from "../../../domain/ports/account-store.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { LEDGER_COLUMNS, type LedgerEntryRow, toLedgerEntry } from "../../sqlite/ledger-table.ts";
import { type Session, statement } from "../session.ts";

const ALL = statement<LedgerEntryRow, [account: string]>(
  `select ${LEDGER_COLUMNS} from ledger_entry where account_number = ${accountNumber("$1")} order by id`,
);

/** Movements of an account's money, the oldest first. */
export async function allEntries(session: Session, id: AccountId): Promise<StoredLedgerEntry[]> {
  return (await ALL.all(session, id)).map(toLedgerEntry);
}
