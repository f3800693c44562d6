import type { Database } from "bun:sqlite";
import type { AccountId } from "../../../domain/ids.ts";
import { holdEntry } from "../../../domain/ledger.ts";
import { type Micros, toMicros } from "../../../domain/money.ts";
import type { Admission, AdmitResult, NewTask } from "../../../domain/ports/task-store.ts";
import { prepareAssets } from "./assets.ts";
import type { IdempotencyRecords } from "./idempotency.ts";
import { prepareLedger } from "./money.ts";

/** The body of `TaskStore.admit`. Raw statements: every create pays for them, and the guarded update is SQL's to say. */
export function prepareAdmit(
  db: Database,
  records: IdempotencyRecords,
): (admission: Admission) => AdmitResult {
  const ledger = prepareLedger(db);
  const insertAssets = prepareAssets(db);
  const insertTask = prepareInsertTask(db);
  const hold = db.prepare<never, [amount: number, account: string]>(
    `update account set held_micros = held_micros + ?1
     where id = ?2 and (mode = 'unlimited' or balance_micros - held_micros >= ?1)`,
  );
  const available = db.prepare<{ available: number }, [account: string]>(
    "select balance_micros - held_micros as available from account where id = ?",
  );
  // Counts no further than it must, and in the index alone.
  const live = db.prepare<{ count: number }, [account: string, key: string, limit: number]>(
    `select count(*) as count from (select 1 from task indexed by task_live
       where account_id = ? and key_id = ? and pool is not null limit ?)`,
  );

  function hasLiveTasks({ accountId, keyId }: NewTask, count: number): boolean {
    return live.get(accountId, keyId, count)?.count === count;
  }

  /** @returns what is available, when that is not enough */
  function holdPrice(account: AccountId, amount: Micros): Micros | undefined {
    if (amount === 0 || hold.run(amount, account).changes === 1) return undefined;
    const row = available.get(account);
    if (row === null) throw new Error(`There is no account ${account}.`);
    return toMicros(row.available);
  }

  return ({ task, assets, idempotency, concurrency }) => {
    const used = idempotency && records.find(idempotency, task.createdAt);
    if (used !== undefined) return used;
    if (concurrency !== undefined && hasLiveTasks(task, concurrency)) return { kind: "too_many_tasks" };
    const shortOf = holdPrice(task.accountId, task.held);
    if (shortOf !== undefined) return { kind: "insufficient_quota", available: shortOf, needed: task.held };
    insertTask(task);
    if (task.held !== 0) ledger.append(task.accountId, holdEntry(task.id, task.held), task.createdAt);
    insertAssets(assets);
    if (idempotency !== undefined) records.put(idempotency, task.id, task.held);
    return { kind: "admitted" };
  };
}

function prepareInsertTask(db: Database): (task: NewTask) => void {
  const insert = db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, callback_url, held_micros, created_at,
       due_at, lane, route_index, quote, request, sync_scope,
       status, stage, pool, attempts, failures, progress, cancel_requested)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 'queued', 'ready', 0, 0, 0, 0)`,
  );
  return (task) => {
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
    );
  };
}
