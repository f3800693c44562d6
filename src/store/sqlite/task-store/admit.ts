import type { Database } from "bun:sqlite";
import type { AccountMode } from "../../../domain/access/account.ts";
import type { AccountId } from "../../../domain/ids.ts";
import { holdEntry } from "../../../domain/money/ledger.ts";
import { type Micros, toMicros } from "../../../domain/money/money.ts";
import type { Admission, AdmitResult, NewTask } from "../../../domain/ports/task-store.ts";
import { type Allowance, prepareQuotas } from "../quotas.ts";
import { prepareAssets } from "./assets.ts";
import type { Changes } from "./changes.ts";
import type { IdempotencyRecords } from "./idempotency.ts";
import { prepareLedger } from "./money.ts";

const AVAILABLE = "balance_micros - held_micros + credit_limit_micros";

/** The body of `TaskStore.admit`. Raw statements: every create pays for them, and the guarded update is SQL's to say. */
export function prepareAdmit(
  db: Database,
  records: IdempotencyRecords,
  changes: Changes,
): (admission: Admission) => AdmitResult {
  const ledger = prepareLedger(db);
  const insertAssets = prepareAssets(db);
  const insertTask = prepareInsertTask(db, changes);
  const quotas = prepareQuotas(db);
  const hold = db.prepare<{ is_low: 0 | 1 | null }, [amount: number, account: string]>(
    `update account set held_micros = held_micros + ?1
     where id = ?2 and (mode = 'unlimited' or balance_micros - held_micros + credit_limit_micros >= ?1)
     returning low_balance_told = 0 and ${AVAILABLE} < low_balance_micros as is_low`,
  );
  const tell = db.prepare<never, [account: string]>("update account set low_balance_told = 1 where id = ?");
  const funds = db.prepare<{ mode: AccountMode; available: number }, [account: string]>(
    `select mode, ${AVAILABLE} as available from account where id = ?`,
  );
  // Counts no further than it must, and in the index alone.
  const live = db.prepare<{ count: number }, [account: string, key: string, limit: number]>(
    `select count(*) as count from (select 1 from task indexed by task_live
       where account_id = ? and key_id = ? and pool is not null limit ?)`,
  );

  function hasLiveTasks({ accountId, keyId }: NewTask, count: number): boolean {
    return live.get(accountId, keyId, count)?.count === count;
  }

  /** @returns undefined when the account has not enough */
  function holdPrice(account: AccountId, amount: Micros): { isLow: boolean } | undefined {
    if (amount === 0) return { isLow: false };
    const held = hold.get(amount, account);
    if (held === null) return undefined;
    if (held.is_low === 1) tell.run(account);
    return { isLow: held.is_low === 1 };
  }

  function shortage({ accountId, held: needed }: NewTask, allowance: Allowance | undefined): AdmitResult {
    const row = funds.get(accountId);
    if (row === null) throw new Error(`There is no account ${accountId}.`);
    const balance = row.mode === "prepaid" ? row.available : Number.POSITIVE_INFINITY;
    const quota = allowance === undefined ? Number.POSITIVE_INFINITY : leftOf(allowance);
    const [limitedBy, available] =
      balance <= quota ? (["balance", balance] as const) : (["key_quota", quota] as const);
    return { kind: "insufficient_quota", limitedBy, available: toMicros(available), needed };
  }

  return ({ task, assets, idempotency, concurrency, quota }) => {
    const used = idempotency && records.find(idempotency, task.createdAt);
    if (used !== undefined) return used;
    if (concurrency !== undefined && hasLiveTasks(task, concurrency)) return { kind: "too_many_tasks" };
    const allowance = quota && task.held > 0 ? quotas.allowance(task, quota) : undefined;
    if (allowance !== undefined && leftOf(allowance) < task.held) return shortage(task, allowance);
    const held = holdPrice(task.accountId, task.held);
    if (held === undefined) return shortage(task, allowance);
    if (allowance !== undefined) quotas.reserve(allowance, task.held);
    insertTask(task, allowance?.period);
    if (task.held !== 0)
      ledger.append(task.accountId, holdEntry(task.id, task.held, task.keyId), task.createdAt);
    insertAssets(assets);
    if (idempotency !== undefined) records.put(idempotency, task.id, task.held);
    return { kind: "admitted", isLow: held.isLow };
  };
}

/** Below zero when a limit was set lower than what was spent by then. */
function leftOf({ limit, used, reserved }: Allowance): number {
  return limit - used - reserved;
}

function prepareInsertTask(
  db: Database,
  changes: Changes,
): (task: NewTask, quotaPeriod: number | undefined) => void {
  const insert = db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, callback_url, held_micros, created_at,
       due_at, lane, route_index, quote, request, sync_scope, quota_period, change,
       status, stage, pool, attempts, failures, progress, cancel_requested)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 'queued', 'ready', 0, 0, 0, 0)`,
  );
  return (task, quotaPeriod) => {
    insert.run(
      task.id,
      task.accountId,
      task.keyId,
      task.requestId,
      task.kind,
      task.model,
      task.origin,
      task.callbackUrl ?? null,
      task.held,
      task.createdAt,
      task.createdAt,
      task.lane,
      task.routeIndex,
      JSON.stringify(task.quote),
      JSON.stringify(task.request),
      task.syncScope ?? null,
      quotaPeriod ?? null,
      changes.next(),
    );
  };
}
