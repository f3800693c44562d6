import type { Database } from "bun:sqlite";
import type { KeyPolicy } from "../../domain/access/key-policy.ts";
import { DAY_MS } from "../../domain/day.ts";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import { type Micros, subtractSum, toMicros, toSum } from "../../domain/money/money.ts";
import { quotaPeriod } from "../../domain/money/quota.ts";
import type { QuotaUse } from "../../domain/ports/account-store.ts";
import type { Admission } from "../../domain/ports/task-store.ts";
import type { NewTask } from "../../domain/task/task.ts";
import { accountNumber } from "./account-store/account-table.ts";
import { prepareChargedSince } from "./charged-since.ts";
import { labelOf } from "./label-table.ts";
import { LIVE } from "./task-store/task-table.ts";

/** What a key may still spend in a period. */
export interface Allowance extends QuotaUse {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly limit: Micros;
  readonly period: number;
  /** Whether the period has a row. Otherwise `used` and `reserved` are what the row starts with. */
  readonly isCounted: boolean;
}

/** Below zero when the limit was lowered below what was already spent; of what cannot be counted, as little as can be. */
export function leftOf({ limit, used, reserved }: Allowance): Micros {
  const left = subtractSum(subtractSum(limit, used), reserved);
  return typeof left === "bigint" ? toMicros(Number.MIN_SAFE_INTEGER) : left;
}

/** Selects the live tasks of a key whose holds are counted in no period. */
export const UNCOUNTED = `account_number = ${accountNumber("?1")} and key_label = ${labelOf("?2")} and ${LIVE}
  and quota_period is null`;

interface UseRow {
  /** As text: the row of a key whose account is unlimited may begin with more than JavaScript reads. */
  readonly used: string;
  readonly reserved_micros: number;
}

/** Reads what keys with quotas used and reserved. */
export function prepareAllowances(db: Database) {
  const standing = prepareStanding(db);
  const owner = db.prepare<{ account_id: AccountId; policy: string }, [key: string]>(
    "select account_id, policy from api_key where id = ?",
  );

  return {
    /** What a key used and reserved in a period; zero for an unknown key. */
    use(key: KeyId, period: number): QuotaUse {
      const found = owner.get(key);
      if (found === null) return { used: toMicros(0), reserved: toMicros(0) };
      const { used, reserved } = standing.of(found.account_id, key, period);
      return { used, reserved };
    },
    /** @returns undefined when the key has no quota */
    allowance(
      { accountId, keyId, createdAt }: NewTask,
      { limit, period }: NonNullable<Admission["quota"]>,
    ): Allowance | undefined {
      const use = standing.kept(keyId, period);
      if (use !== undefined) return { accountId, keyId, limit, period, ...use };
      // Either a period begins, or another process changed the quota and this one has not seen it yet. Read what the key really
      // has.
      const found = owner.get(keyId);
      if (found === null) throw new Error(`There is no key ${keyId}.`);
      // Safe: this store wrote it.
      const { quota } = JSON.parse(found.policy) as KeyPolicy;
      if (quota === undefined) return undefined;
      const present = quotaPeriod(quota.reset, createdAt);
      const limits = { limit: quota.limit, period: present };
      return { accountId, keyId, ...limits, ...standing.of(accountId, keyId, present) };
    },
  };
}

/** Returns functions that read a key's use of a period. */
function prepareStanding(db: Database) {
  const chargedSince = prepareChargedSince(db);
  const counted = db.prepare<UseRow, [key: string, period: number]>(
    "select cast(used_micros as text) as used, reserved_micros from key_quota where key_id = ? and period = ?",
  );
  const anyCounted = db.prepare<{ period: number }, [key: string]>(
    "select period from key_quota where key_id = ? limit 1",
  );
  const heldSince = db.prepare<{ held: number | null }, [account: string, key: string, from: number]>(
    `select sum(held_micros) as held from task indexed by task_live where ${UNCOUNTED} and created_at >= ?3`,
  );

  /** What the row of a period starts with. */
  function opening(account: AccountId, key: KeyId, period: number): QuotaUse {
    if (anyCounted.get(key) !== null) return { used: toMicros(0), reserved: toMicros(0) };
    const reserved = heldSince.get(account, key, period * DAY_MS)?.held ?? 0;
    return { used: chargedSince(account, key, period), reserved: toMicros(reserved) };
  }

  function kept(key: KeyId, period: number): (QuotaUse & { isCounted: true }) | undefined {
    const row = counted.get(key, period);
    if (row === null) return undefined;
    return { used: toSum(row.used), reserved: toMicros(row.reserved_micros), isCounted: true };
  }

  function of(account: AccountId, key: KeyId, period: number): QuotaUse & { isCounted: boolean } {
    return kept(key, period) ?? { ...opening(account, key, period), isCounted: false };
  }

  return { kept, of };
}
