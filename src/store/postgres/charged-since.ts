import type { AccountId, KeyId } from "../../domain/ids.ts";
import { type MicrosSum, toSum } from "../../domain/money/money.ts";
import { type Session, statement } from "./session.ts";

/** Sums up charges as SQL. Steps from day to day by the primary key, and skips the rows of other keys. */
export const chargedFrom = (account: string, key: string, day: string) =>
  `with recursive used (day) as (
     (select min(day) from usage_day where account_id = ${account} and day >= ${day})
     union all
     select (select min(day) from usage_day where account_id = ${account} and day > used.day) from used where day is not null
   )
   select coalesce(sum(charged_micros), 0)::text as charged from used
   join usage_day on usage_day.account_id = ${account} and usage_day.day = used.day and usage_day.key_id = ${key}`;

const CHARGED = statement<{ charged: string }, [account: AccountId, key: KeyId, day: number]>(
  chargedFrom("$1", "$2", "$3"),
);

/** Sums up the charges of one key's tasks that ended on a day or later. */
export async function chargedSince(
  session: Session,
  account: AccountId,
  key: KeyId,
  day: number,
): Promise<MicrosSum> {
  return toSum((await CHARGED.get(session, account, key, day))?.charged ?? "0");
}
