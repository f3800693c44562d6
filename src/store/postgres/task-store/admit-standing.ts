import type { AccountMode } from "../../../domain/access/account-terms.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import { AVAILABLE } from "../../sqlite/account-sums.ts";
import type { Allowance } from "../../sqlite/quota-allowance.ts";
import type { IdempotencyRow } from "../../sqlite/task-store/idempotency.ts";
import { LIVE } from "../../sqlite/task-store/task-table.ts";
import { asRows, given } from "../given-rows.ts";
import { type Session, statement } from "../session.ts";
import { records } from "./idempotency.ts";
import type { PreparedAdmission } from "./new-task.ts";

/** What an account can spend. */
export interface Funds {
  readonly number: number;
  readonly mode: AccountMode;
  readonly available: number;
  /** Below it the balance is reported as low; null for never, or where it was reported already. */
  readonly low: number | null;
}

/** What decides on creates of one account, as it stands before the first of them. */
export interface AdmitStanding {
  readonly funds: Funds;
  /** Idempotency records by their digests. */
  readonly used: ReadonlyMap<string, IdempotencyRow>;
  /** Live tasks of the keys that may have only so many, by the label of the key. Counted up to that limit. */
  readonly live: ReadonlyMap<number, number>;
  /** What keys have used and reserved, by `placeOf`. A period that begins is not there. */
  readonly uses: ReadonlyMap<string, Pick<Allowance, "used" | "reserved">>;
}

const FUNDS = statement<Funds, [account: string]>(
  `select number, mode, ${AVAILABLE} as available, case when low_balance_told = 0 then low_balance_micros end as low
   from account where id = $1`,
);
// Stops counting at the limit, and reads the index alone.
const LIVE_OF_KEYS = statement<{ label: number; count: number }, [account: string, keys: string]>(
  `select label, (select count(*)::bigint from (select 1 from task
     where account_number = (select number from account where id = $1) and key_label = label and ${LIVE} limit most) as live) as count
   from ${given("$2", { label: "bigint", most: "bigint" })}`,
);
const COUNTED = statement<
  { key_id: KeyId; period: number; used_micros: number; reserved_micros: number },
  [places: string]
>(
  `select key_id, period, used_micros, reserved_micros from ${given("$1", { key: "text", of: "bigint" })}
   join key_quota on key_id = key and period = "of"`,
);

/** Reads all of it at once. @throws Error when there is no such account */
export async function readStanding(
  session: Session,
  account: AccountId,
  all: readonly PreparedAdmission[],
): Promise<AdmitStanding> {
  const digests = all.flatMap(({ record }) => (record === undefined ? [] : [record.digest]));
  const [keys, periods] = [limitsOfKeys(all), periodsOfKeys(all)];
  const [funds, used, live, uses] = await Promise.all([
    FUNDS.get(session, account),
    digests.length === 0 ? [] : records.byDigest(session, digests),
    keys.length === 0 ? [] : LIVE_OF_KEYS.all(session, account, asRows(keys)),
    periods.length === 0 ? [] : COUNTED.all(session, asRows(periods)),
  ]);
  if (funds === undefined) throw new Error(`There is no account ${account}.`);
  return {
    funds,
    used: new Map(used),
    live: new Map(live.map(({ label, count }) => [label, count])),
    uses: new Map(
      uses.map(({ key_id, period, used_micros, reserved_micros }) => [
        placeOf({ keyId: key_id, period }),
        { used: toMicros(used_micros), reserved: toMicros(reserved_micros) },
      ]),
    ),
  };
}

/** Names a period of a key. */
export function placeOf({ keyId, period }: Pick<Allowance, "keyId" | "period">): string {
  return `${keyId} ${period}`;
}

/** The most live tasks that creates look for, by key. */
function limitsOfKeys(all: readonly PreparedAdmission[]): { label: number; most: number }[] {
  const most = new Map<number, number>();
  for (const { keyLabel, admission } of all)
    if (admission.concurrency !== undefined)
      most.set(keyLabel, Math.max(admission.concurrency, most.get(keyLabel) ?? 0));
  return [...most].map(([label, limit]) => ({ label, most: limit }));
}

function periodsOfKeys(all: readonly PreparedAdmission[]): { key: KeyId; of: number }[] {
  const places = all.flatMap(({ admission: { task, quota } }) =>
    quota === undefined || task.held === 0 ? [] : [{ key: task.keyId, of: quota.period }],
  );
  return [...new Map(places.map((place) => [`${place.key} ${place.of}`, place])).values()];
}
