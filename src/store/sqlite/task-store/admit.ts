import type { Database } from "bun:sqlite";
import { toMicros } from "../../../domain/money/money.ts";
import type { Admission, AdmitResult } from "../../../domain/ports/task-store.ts";
import type { NewTask } from "../../../domain/task/task.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { labelOf } from "../label-table.ts";
import type { Labels } from "../labels.ts";
import type { Ledger } from "../ledger.ts";
import { type Allowance, leftOf } from "../quota-allowance.ts";
import { prepareQuotas } from "../quotas.ts";
import type { Advance } from "./advance.ts";
import { prepareAssets } from "./assets.ts";
import type { Changes } from "./changes.ts";
import { digestOf, type IdempotencyRecords } from "./idempotency.ts";
import { prepareInsertTask } from "./insert-task.ts";
import type { Starts } from "./start.ts";
import { LIVE } from "./task-table.ts";

/** The body of `TaskStore.admit`. Raw statements, because every create runs them. */
export function prepareAdmit(
  db: Database,
  parts: {
    readonly ledger: Ledger;
    readonly records: IdempotencyRecords;
    readonly changes: Changes;
    readonly labels: Labels;
    readonly advance: Pick<Advance, "begunFirst">;
    readonly starts: Starts;
  },
): (admission: Admission) => AdmitResult {
  const { ledger, records, changes, labels, advance, starts } = parts;
  const insertAssets = prepareAssets(db);
  const insertTask = prepareInsertTask(db, labels);
  const quotas = prepareQuotas(db);
  // Stops counting at the limit, and reads the index alone.
  const live = db.prepare<{ count: number }, [account: string, key: string, limit: number]>(
    `select count(*) as count from (select 1 from task indexed by task_live
       where account_number = ${accountNumber("?")} and key_label = ${labelOf("?")} and ${LIVE} limit ?)`,
  );

  function hasLiveTasks({ accountId, keyId }: NewTask, count: number): boolean {
    return live.get(accountId, keyId, count)?.count === count;
  }

  function shortage({ accountId, held: needed }: NewTask, allowance: Allowance | undefined): AdmitResult {
    const balance = ledger.available(accountId);
    const quota = allowance === undefined ? Number.POSITIVE_INFINITY : leftOf(allowance);
    const [limitedBy, available] =
      balance <= quota ? (["balance", balance] as const) : (["key_quota", quota] as const);
    return { kind: "insufficient_quota", limitedBy, available: toMicros(available), needed };
  }

  return ({ task, assets, idempotency, concurrency, quota, start }) => {
    const digest = idempotency && digestOf(idempotency);
    const used = idempotency && records.find(idempotency, task.createdAt, digest);
    if (used !== undefined) return used;
    if (concurrency !== undefined && hasLiveTasks(task, concurrency)) return { kind: "too_many_tasks" };
    const allowance = quota && task.held > 0 ? quotas.allowance(task, quota) : undefined;
    if (allowance !== undefined && leftOf(allowance) < task.held) return shortage(task, allowance);
    const held = ledger.hold(task);
    if (held === undefined) return shortage(task, allowance);
    if (allowance !== undefined) quotas.reserve(allowance, task.held);
    const admitted = { labels, quotaPeriod: allowance?.period, change: changes.next() };
    const begun = start !== undefined && starts.take(task, held.account, start) ? start : undefined;
    const number = insertTask(task, held.account, admitted, begun);
    ledger.noteHold(task, held.account, number);
    insertAssets({ account: held.account, task: number }, assets);
    if (idempotency !== undefined) records.put(idempotency, task.id, task.held, digest);
    if (begun === undefined) {
      starts.waits(task.lane);
      return { kind: "admitted", isLow: held.isLow };
    }
    advance.begunFirst(task, number, begun.intent);
    return { kind: "admitted", isLow: held.isLow, isBegun: true };
  };
}
