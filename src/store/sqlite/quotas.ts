import type { Database } from "bun:sqlite";
import type { KeyPolicy } from "../../domain/access/key-policy.ts";
import { DAY_MS } from "../../domain/day.ts";
import type { AccountId, KeyId } from "../../domain/ids.ts";
import type { LedgerEntry } from "../../domain/money/ledger.ts";
import { type Micros, toMicros } from "../../domain/money/money.ts";
import { quotaPeriod } from "../../domain/money/quota.ts";
import type { QuotaUse } from "../../domain/ports/account-store.ts";
import type { Admission } from "../../domain/ports/task-store.ts";
import type { NewTask } from "../../domain/task/task.ts";
import { prepareChargedSince } from "./charged-since.ts";

/** What a key may still spend in a period. */
export interface Allowance extends QuotaUse {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly limit: Micros;
  readonly period: number;
  /** Whether the period is counted already; `used` and `reserved` are what counting begins with otherwise. */
  readonly isCounted: boolean;
}

export interface Quotas {
  use(key: KeyId, period: number): QuotaUse;
  /** @returns undefined when the key has no quota, whatever the admission says */
  allowance(task: NewTask, quota: NonNullable<Admission["quota"]>): Allowance | undefined;
  /** Counts a hold, after `allowance` said that there is room for it. */
  reserve(allowance: Allowance, amount: Micros): void;
  /** Counts what became of a hold, in the period it was counted in. */
  settle(key: KeyId, period: number, entries: readonly LedgerEntry[]): void;
  /** Ends all counting for a key. It begins anew, with what the key was charged and holds by then, when it has a quota again. */
  forget(account: AccountId, key: KeyId): void;
}

interface UseRow {
  readonly used_micros: number;
  readonly reserved_micros: number;
}

/**
 * Counts of keys with quotas. A row is made when the first task of a period is accepted: with nothing used, or, where it is the
 * key's first row of all, with what happened in the period before. So a key without a quota costs nothing.
 */
export function prepareQuotas(db: Database): Quotas {
  const chargedSince = prepareChargedSince(db);
  const counted = db.prepare<UseRow, [key: string, period: number]>(
    "select used_micros, reserved_micros from key_quota where key_id = ? and period = ?",
  );
  const anyCounted = db.prepare<{ period: number }, [key: string]>(
    "select period from key_quota where key_id = ? limit 1",
  );
  const owner = db.prepare<{ account_id: AccountId; policy: string }, [key: string]>(
    "select account_id, policy from api_key where id = ?",
  );
  const uncounted = "account_id = ?1 and key_id = ?2 and pool is not null and quota_period is null";
  const heldSince = db.prepare<{ held: number | null }, [account: string, key: string, from: number]>(
    `select sum(held_micros) as held from task indexed by task_live where ${uncounted} and created_at >= ?3`,
  );
  const count = db.prepare<never, [account: string, key: string, from: number, period: number]>(
    `update task indexed by task_live set quota_period = ?4 where ${uncounted} and created_at >= ?3`,
  );
  const insert = db.prepare<never, [key: string, period: number, used: number, reserved: number]>(
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
     where account_id = ? and key_id = ? and pool is not null and quota_period is not null`,
  );

  /** What counting in a period begins with. */
  function opening(account: AccountId, key: KeyId, period: number): QuotaUse {
    if (anyCounted.get(key) !== null) return { used: toMicros(0), reserved: toMicros(0) };
    const reserved = heldSince.get(account, key, period * DAY_MS)?.held ?? 0;
    return { used: chargedSince(account, key, period), reserved: toMicros(reserved) };
  }

  function kept(key: KeyId, period: number): (QuotaUse & { isCounted: true }) | undefined {
    const row = counted.get(key, period);
    if (row === null) return undefined;
    return { used: toMicros(row.used_micros), reserved: toMicros(row.reserved_micros), isCounted: true };
  }

  function standing(account: AccountId, key: KeyId, period: number): QuotaUse & { isCounted: boolean } {
    return kept(key, period) ?? { ...opening(account, key, period), isCounted: false };
  }

  return {
    use(key, period) {
      const found = owner.get(key);
      if (found === null) return { used: toMicros(0), reserved: toMicros(0) };
      const { used, reserved } = standing(found.account_id, key, period);
      return { used, reserved };
    },
    allowance({ accountId, keyId, createdAt }, { limit, period }) {
      const use = kept(keyId, period);
      if (use !== undefined) return { accountId, keyId, limit, period, ...use };
      // A period begins, or another process changed the quota and this one has not seen it yet: then what is counted from now
      // on must be what the key really has.
      const found = owner.get(keyId);
      if (found === null) throw new Error(`There is no key ${keyId}.`);
      // Written by this store.
      const { quota } = JSON.parse(found.policy) as KeyPolicy;
      if (quota === undefined) return undefined;
      const present = quotaPeriod(quota.reset, createdAt);
      const limits = { limit: quota.limit, period: present };
      return { accountId, keyId, ...limits, ...standing(accountId, keyId, present) };
    },
    reserve({ accountId, keyId, limit, period, isCounted, used, reserved }, amount) {
      if (!isCounted) {
        insert.run(keyId, period, used, reserved);
        if (reserved > 0) count.run(accountId, keyId, period * DAY_MS, period);
      }
      if (reserve.run(amount, keyId, period, limit).changes !== 1)
        throw new Error(`The quota of ${keyId} was exceeded in period ${period}.`);
    },
    settle(key, period, entries) {
      const used = entries.reduce((sum, entry) => sum - entry.balanceDelta, 0);
      const reserved = entries.reduce((sum, entry) => sum + entry.heldDelta, 0);
      if (used === 0 && reserved === 0) return;
      if (move.run(used, reserved, key, period).changes !== 1)
        throw new Error(`Nothing is counted for ${key} in period ${period}.`);
    },
    forget(account, key) {
      if (removeAll.run(key).changes > 0) uncount.run(account, key);
    },
  };
}
