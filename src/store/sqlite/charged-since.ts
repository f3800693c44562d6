import type { Database } from "bun:sqlite";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import { type MicrosSum, toSum } from "../../domain/money/money.ts";

/** Returns a function that sums up the charges of one key's tasks that ended on a day or later. */
export function prepareChargedSince(
  db: Database,
): (account: AccountId, key: KeyId, day: number) => MicrosSum {
  // Steps from day to day by the primary key, and skips the rows of other keys.
  const charged = db.prepare<{ charged: string }, [account: AccountId, key: KeyId, day: number]>(
    `with recursive used (day) as (
       select min(day) from usage_day where account_id = ?1 and day >= ?3
       union all
       select (select min(day) from usage_day where account_id = ?1 and day > used.day) from used where day is not null
     )
     select cast(coalesce(sum(charged_micros), 0) as text) as charged from used
     cross join usage_day on account_id = ?1 and usage_day.day = used.day and key_id = ?2`,
  );
  return (account, key, day) => toSum(charged.get(account, key, day)?.charged ?? "0");
}
