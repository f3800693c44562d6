import type { Database, SQLQueryBindings } from "bun:sqlite";
import { toMicros } from "../../../domain/money/money.ts";
import type { Admission, AdmitResult } from "../../../domain/ports/task-store.ts";
import type { NewTask } from "../../../domain/task/task.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { labelOf } from "../label-table.ts";
import type { Labels } from "../labels.ts";
import type { Ledger } from "../ledger.ts";
import { type Allowance, leftOf } from "../quota-allowance.ts";
import { prepareQuotas } from "../quotas.ts";
import { prepareAssets } from "./assets.ts";
import type { Changes } from "./changes.ts";
import { digestOf, type IdempotencyRecords } from "./idempotency.ts";
import { type AdmittedWith, LIVE, NEW_ALIKE, NEW_TASK } from "./task-table.ts";

/** The body of `TaskStore.admit`. Raw statements, because every create runs them. */
export function prepareAdmit(
  db: Database,
  parts: {
    readonly ledger: Ledger;
    readonly records: IdempotencyRecords;
    readonly changes: Changes;
    readonly labels: Labels;
  },
): (admission: Admission) => AdmitResult {
  const { ledger, records, changes, labels } = parts;
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

  return ({ task, assets, idempotency, concurrency, quota }) => {
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
    const number = insertTask(task, held.account, admitted);
    ledger.noteHold(task, held.account, number);
    insertAssets(assets);
    if (idempotency !== undefined) records.put(idempotency, task.id, task.held, digest);
    return { kind: "admitted", isLow: held.isLow };
  };
}

/** What stands for a column's value. Neither another account's task nor one that is gone has a family. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  account_number: "?1",
  family_number:
    "(select coalesce(of.family_number, of.number) from task as of where of.id = ?2 and of.account_number = ?1)",
  // The same in every new task, so that nothing is handed over for them.
  ...{ status: "'pending'", stage: "'queued'", pool: "'ready'" },
  ...{ attempts: "0", failures: "0", progress: "0", cancel_requested: "0" },
};

/** @returns what inserts a task of the account with this number, and returns the task's */
function prepareInsertTask(db: Database, labels: Labels) {
  const alike = Object.keys(NEW_ALIKE).flatMap((column) => [column, `${column}_label`]);
  const columns = ["account_number", "family_number", ...alike, ...Object.keys(NEW_TASK)];
  const values = Object.entries(NEW_TASK)
    .filter(([column]) => EXPRESSIONS[column] === undefined)
    .map(([, value]) => value);
  const alikeValues = Object.values(NEW_ALIKE);
  const places = columns.map((column) => EXPRESSIONS[column] ?? "?");
  const insert = db.prepare(`insert into task (${columns.join(", ")}) values (${places.join(", ")})`);
  return (task: NewTask, account: number, admitted: AdmittedWith): number => {
    // Every create comes by: one list that grows takes less than lists that are joined.
    const given: SQLQueryBindings[] = [account, task.parent?.id ?? null];
    for (const value of alikeValues) {
      const [text, label] = labels.columns(value(task));
      given.push(text, label);
    }
    for (const value of values) given.push(value(task, admitted));
    return Number(insert.run(...given).lastInsertRowid);
  };
}
