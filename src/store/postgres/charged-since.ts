import type { AccountId, KeyId } from "../../domain/ids.ts";
import { type MicrosSum, toSum, ZERO } from "../../domain/money/money.ts";
import type { UsageStore } from "../../domain/ports/usage-store.ts";
import { asRows, given } from "./given-rows.ts";
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

const CHARGED_EACH = statement<{ place: number; charged: string }, [rows: string, day: number]>(
  `select place, (${chargedFrom("given.account_id", "given.key_id", "$2::bigint")}) as charged
   from ${given("$1", { place: "bigint", account_id: "text", key_id: "text" })}`,
);

/** The same of each of some keys, in their order. */
export async function chargedSinceEach(
  session: Session,
  keys: Parameters<UsageStore["chargedSince"]>[0],
  day: number,
): Promise<MicrosSum[]> {
  const rows = keys.map(({ id, accountId }, place) => ({ place, key_id: id, account_id: accountId }));
  const sums = keys.map((): MicrosSum => ZERO);
  for (const { place, charged } of await CHARGED_EACH.all(session, asRows(rows), day))
    sums[place] = toSum(charged);
  return sums;
}
