import type { Database } from "bun:sqlite";
import { DAY_MS } from "../../domain/day.ts";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import type { LedgerEntry } from "../../domain/money/ledger.ts";
import type { Micros, MicrosSum } from "../../domain/money/money.ts";
import { accountNumber } from "./account-store/account-table.ts";
import { labelOf } from "./label-table.ts";
import { type Allowance, prepareAllowances, UNCOUNTED } from "./quota-allowance.ts";
import { LIVE } from "./task-store/task-table.ts";

export type Quotas = ReturnType<typeof prepareQuotas>;

/**
 * Counts the use of quotas. The first task of a period creates its row: empty, or, for the key's very first row, with what the
 * key spent earlier in the period. A key without a quota costs nothing.
 */
export function prepareQuotas(db: Database) {
  const count = db.prepare<never, [account: string, key: string, from: number, period: number]>(
    `update task indexed by task_live set quota_period = ?4 where ${UNCOUNTED} and created_at >= ?3`,
  );
  const insert = db.prepare<never, [key: string, period: number, used: MicrosSum, reserved: number]>(
    "insert into key_quota (key_id, period, used_micros, reserved_micros) values (?, ?, ?, ?)",
  );
  const reserve = db.prepare<never, [amount: number, key: string, period: number, limit: number]>(
    `update key_quota set reserved_micros = reserved_micros + ?1
     where key_id = ?2 and period = ?3 and used_micros + reserved_micros + ?1 <= ?4`,
  );
  const move = db.prepare<never, [used: number, reserved: number, key: string, period: number]>(
    `update key_quota set used_micros = used_micros + ?, reserved_micros = reserved_micros + ?
     where key_id = ? and period = ?`,
  );
  const removeAll = db.prepare<never, [key: string]>("delete from key_quota where key_id = ?");
  const uncount = db.prepare<never, [account: string, key: string]>(
    `update task indexed by task_live set quota_period = null
     where account_number = ${accountNumber("?")} and key_label = ${labelOf("?")} and ${LIVE}
       and quota_period is not null`,
  );

  return {
    ...prepareAllowances(db),
    /** Counts a hold that `allowance` has room for. */
    reserve(allowance: Allowance, amount: Micros): void {
      const { accountId, keyId, limit, period, isCounted, used, reserved } = allowance;
      if (!isCounted) {
        insert.run(keyId, period, used, reserved);
        if (reserved > 0) count.run(accountId, keyId, period * DAY_MS, period);
      }
      if (reserve.run(amount, keyId, period, limit).changes !== 1)
        throw new Error(`The quota of ${keyId} was exceeded in period ${period}.`);
    },
    /** Counts the capture and the release of a hold, in the period of the hold. */
    settle(key: KeyId, period: number, entries: readonly LedgerEntry[]): void {
      const used = entries.reduce((sum, entry) => sum - entry.balanceDelta, 0);
      const reserved = entries.reduce((sum, entry) => sum + entry.heldDelta, 0);
      if (used === 0 && reserved === 0) return;
      if (move.run(used, reserved, key, period).changes !== 1)
        throw new Error(`Nothing is counted for ${key} in period ${period}.`);
    },
    /** Ends all counting for a key. Once it has a quota again, counting starts with what it was charged and holds by then. */
    forget(account: AccountId, key: KeyId): void {
      if (removeAll.run(key).changes > 0) uncount.run(account, key);
    },
  };
}
