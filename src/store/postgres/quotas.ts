import { DAY_MS } from "../../domain/day.ts";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import type { LedgerEntry } from "../../domain/money/ledger.ts";
import type { Micros } from "../../domain/money/money.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { labelOf } from "../sqlite/label-table.ts";
import type { Allowance } from "../sqlite/quota-allowance.ts";
import { LIVE } from "../sqlite/task-store/task-table.ts";
import { UNCOUNTED } from "./quota-allowance.ts";
import { type Session, statement } from "./session.ts";

const COUNT = statement<never, [account: string, key: string, from: number, period: number]>(
  `update task set quota_period = $4 where ${UNCOUNTED} and created_at >= $3`,
);
const INSERT = statement<never, [key: string, period: number, used: string, reserved: number]>(
  "insert into key_quota (key_id, period, used_micros, reserved_micros) values ($1, $2, $3::text::bigint, $4)",
);
const RESERVE = statement<never, [amount: number, key: string, period: number, limit: number]>(
  `update key_quota set reserved_micros = reserved_micros + $1::bigint
   where key_id = $2 and period = $3 and used_micros + reserved_micros + $1::bigint <= $4`,
);
const MOVE = statement<never, [used: number, reserved: number, key: string, period: number]>(
  `update key_quota set used_micros = used_micros + $1::bigint, reserved_micros = reserved_micros + $2::bigint
   where key_id = $3 and period = $4`,
);
const REMOVE_ALL = statement<never, [key: string]>("delete from key_quota where key_id = $1");
const UNCOUNT = statement<never, [account: string, key: string]>(
  `update task set quota_period = null
   where account_number = ${accountNumber("$1")} and key_label = ${labelOf("$2")} and ${LIVE}
     and quota_period is not null`,
);

/**
 * Counts the use of quotas. The caller holds the row of the key's account. The first task of a period creates its row: empty,
 * or, for the key's very first row, with what the key spent earlier in the period. A key without a quota costs nothing.
 */
export const quotas = {
  /** Creates the row of a period. */
  async open(session: Session, { accountId, keyId, period, used, reserved }: Allowance): Promise<void> {
    await Promise.all([
      INSERT.run(session, keyId, period, String(used), reserved),
      reserved > 0 ? COUNT.run(session, accountId, keyId, period * DAY_MS, period) : undefined,
    ]);
  },
  /** Counts holds that an allowance has room for. */
  async reserve(
    session: Session,
    { keyId, period, limit }: Pick<Allowance, "keyId" | "period" | "limit">,
    amount: Micros,
  ): Promise<void> {
    if ((await RESERVE.run(session, amount, keyId, period, limit)) !== 1)
      throw new Error(`The quota of ${keyId} was exceeded in period ${period}.`);
  },
  /** Counts the capture and the release of a hold, in the period of the hold. */
  async settle(session: Session, key: KeyId, period: number, entries: readonly LedgerEntry[]): Promise<void> {
    const used = entries.reduce((sum, entry) => sum - entry.balanceDelta, 0);
    const reserved = entries.reduce((sum, entry) => sum + entry.heldDelta, 0);
    if (used === 0 && reserved === 0) return;
    if ((await MOVE.run(session, used, reserved, key, period)) !== 1)
      throw new Error(`Nothing is counted for ${key} in period ${period}.`);
  },
  /** Ends all counting for a key. Once it has a quota again, counting starts with what it was charged and holds by then. */
  async forget(session: Session, account: AccountId, key: KeyId): Promise<void> {
    if ((await REMOVE_ALL.run(session, key)) > 0) await UNCOUNT.run(session, account, key);
  },
};
