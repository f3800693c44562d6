import type { KeyPolicy } from "../../domain/access/key-policy.ts";
import { DAY_MS } from "../../domain/day.ts";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import { toMicros, toSum } from "../../domain/money/money.ts";
import { quotaPeriod } from "../../domain/money/quota.ts";
import type { AccountStore, QuotaUse } from "../../domain/ports/account-store.ts";
import type { Admission } from "../../domain/ports/task-store.ts";
import type { NewTask } from "../../domain/task/task.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { labelOf } from "../sqlite/label-table.ts";
import type { Allowance } from "../sqlite/quota-allowance.ts";
import { LIVE } from "../sqlite/task-store/task-table.ts";
import { chargedFrom, chargedSince } from "./charged-since.ts";
import { asRows, given } from "./given-rows.ts";
import { type Session, statement } from "./session.ts";

/** Selects the live tasks of a key whose holds are counted in no period. */
const uncountedOf = (account: string, key: string) =>
  `account_number = ${accountNumber(account)} and key_label = ${labelOf(key)} and ${LIVE}
  and quota_period is null`;
export const UNCOUNTED = uncountedOf("$1", "$2");

const OWNER = statement<{ account_id: AccountId; policy: string }, [key: string]>(
  "select account_id, policy from api_key where id = $1",
);
const COUNTED = statement<{ used: string; reserved_micros: number }, [key: string, period: number]>(
  "select used_micros::text as used, reserved_micros from key_quota where key_id = $1 and period = $2",
);
const ANY_COUNTED = statement<{ period: number }, [key: string]>(
  "select period from key_quota where key_id = $1 limit 1",
);
const HELD_SINCE = statement<{ held: number }, [account: string, key: string, from: number]>(
  `select coalesce(sum(held_micros), 0)::bigint as held from task where ${UNCOUNTED} and created_at >= $3`,
);

/** What a key used and reserved in a period; zero for an unknown key. */
export async function quotaUse(session: Session, key: KeyId, period: number): Promise<QuotaUse> {
  const found = await OWNER.get(session, key);
  if (found === undefined) return { used: toMicros(0), reserved: toMicros(0) };
  const { used, reserved } = await standingOf(session, found.account_id, key, period);
  return { used, reserved };
}

type Asked = Parameters<AccountStore["keyQuotas"]>[0];

/** The row of each period, and whether its key has any. A join would read whole tables for ten keys. */
const COUNTED_EACH = statement<
  {
    place: number;
    account_id: AccountId | null;
    used: string | null;
    reserved: number | null;
    is_counted: boolean;
  },
  [rows: string]
>(
  `select place, (select account_id from api_key where id = key_id) as account_id,
     (select used_micros::text from key_quota where key_quota.key_id = given.key_id and key_quota.period = given.period) as used,
     (select reserved_micros from key_quota where key_quota.key_id = given.key_id and key_quota.period = given.period) as reserved,
     (select true from key_quota where key_quota.key_id = given.key_id limit 1) is not null as is_counted
   from ${given("$1", { place: "bigint", key_id: "text", period: "bigint" })}`,
);
/** What the first rows of keys start with. */
const OPENING_EACH = statement<{ place: number; used: string; reserved: number }, [rows: string]>(
  `select place, (${chargedFrom("given.account_id", "given.key_id", "given.period")}) as used,
     (select coalesce(sum(held_micros), 0)::bigint from task where ${uncountedOf("given.account_id", "given.key_id")}
        and created_at >= given.period * ${DAY_MS}) as reserved
   from ${given("$1", { place: "bigint", account_id: "text", key_id: "text", period: "bigint" })}`,
);

/** The same of some keys, in their order. */
export async function quotaUses(session: Session, asked: Asked): Promise<QuotaUse[]> {
  const uses = asked.map((): QuotaUse => ({ used: toMicros(0), reserved: toMicros(0) }));
  const rows = asked.map(({ id, period }, place) => ({ place, key_id: id, period }));
  const counted = await COUNTED_EACH.all(session, asRows(rows));
  for (const { place, used, reserved } of counted)
    if (used !== null) uses[place] = { used: toSum(used), reserved: toMicros(reserved ?? 0) };
  const first = counted.filter((row) => !row.is_counted && row.account_id !== null);
  if (first.length === 0) return uses;
  const begun = first.map(({ place, account_id }) => ({ ...rows[place], account_id }));
  for (const { place, used, reserved } of await OPENING_EACH.all(session, asRows(begun)))
    uses[place] = { used: toSum(used), reserved: toMicros(reserved) };
  return uses;
}

/** What a new task's key may still spend. @returns undefined when the key has no quota */
export async function allowanceOf(
  session: Session,
  { accountId, keyId, createdAt }: NewTask,
  { limit, period }: NonNullable<Admission["quota"]>,
): Promise<Allowance | undefined> {
  const use = await keptOf(session, keyId, period);
  if (use !== undefined) return { accountId, keyId, limit, period, ...use };
  // Either a period begins, or another process changed the quota and this one has not seen it yet. Read what the key really has.
  const found = await OWNER.get(session, keyId);
  if (found === undefined) throw new Error(`There is no key ${keyId}.`);
  // Safe: this store wrote it.
  const { quota } = JSON.parse(found.policy) as KeyPolicy;
  if (quota === undefined) return undefined;
  const present = quotaPeriod(quota.reset, createdAt);
  const limits = { limit: quota.limit, period: present };
  return { accountId, keyId, ...limits, ...(await standingOf(session, accountId, keyId, present)) };
}

async function keptOf(
  session: Session,
  key: KeyId,
  period: number,
): Promise<(QuotaUse & { isCounted: true }) | undefined> {
  const row = await COUNTED.get(session, key, period);
  if (row === undefined) return undefined;
  return { used: toSum(row.used), reserved: toMicros(row.reserved_micros), isCounted: true };
}

async function standingOf(session: Session, account: AccountId, key: KeyId, period: number) {
  const kept = await keptOf(session, key, period);
  return kept ?? { ...(await openingOf(session, account, key, period)), isCounted: false };
}

/** What the row of a period starts with. */
async function openingOf(
  session: Session,
  account: AccountId,
  key: KeyId,
  period: number,
): Promise<QuotaUse> {
  if ((await ANY_COUNTED.get(session, key)) !== undefined)
    return { used: toMicros(0), reserved: toMicros(0) };
  const [held, used] = await Promise.all([
    HELD_SINCE.get(session, account, key, period * DAY_MS),
    chargedSince(session, account, key, period),
  ]);
  return { used, reserved: toMicros(held?.held ?? 0) };
}
