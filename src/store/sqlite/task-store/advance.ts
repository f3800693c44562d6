import type { Database } from "bun:sqlite";
import type { AccountId, KeyId, LeaseToken, ModelId, TaskId } from "../../../domain/ids.ts";
import { usageOf } from "../../../domain/money/usage.ts";
import type { AttemptIntent } from "../../../domain/ports/task-store.ts";
import type { Lease, Stage } from "../../../domain/task/task.ts";
import type { AttemptChange, Transition } from "../../../domain/task/transition.ts";
import { prepareQuotas } from "../quotas.ts";
import type { Pool } from "../schema.ts";
import { prepareAssets } from "./assets.ts";
import type { Changes } from "./changes.ts";
import { prepareLedger } from "./money.ts";
import { prepareUsage } from "./usage.ts";

/** What decides whether and how a task may change, and who its end counts for. */
export interface Standing {
  readonly account_id: AccountId;
  readonly key_id: KeyId;
  readonly model: ModelId;
  readonly stage: Stage;
  readonly lease_token: LeaseToken | null;
  readonly due_at: number | null;
  readonly cancel_requested: 0 | 1;
  readonly quota_period: number | null;
}

export interface Advance {
  standing(id: TaskId): Standing | undefined;
  begin(lease: Lease, intent: AttemptIntent): "begun" | "cancel_requested" | "lease_lost";
  renew(lease: Lease, until: number): "renewed" | "lease_lost";
  apply(lease: Lease, transition: Transition): "applied" | "lease_lost";
  /** Writes a transition of a task that stands as given, whoever has its lease. */
  write(id: TaskId, standing: Standing, transition: Transition): void;
}

/**
 * What moves a task on under a lease. Raw statements: each task passes several times, and "absent fields stay as they are"
 * is a coalesce for each of them.
 */
export function prepareAdvance(db: Database, changes: Changes): Advance {
  const ledger = prepareLedger(db);
  const quotas = prepareQuotas(db);
  const insertAssets = prepareAssets(db);
  const insertCallback = prepareCallback(db);
  const attempts = prepareAttempts(db);
  const updateTask = prepareUpdateTask(db);
  const addUsage = prepareUsage(db);
  const select = db.prepare<Standing, [id: string]>(
    `select account_id, key_id, model, stage, lease_token, due_at, cancel_requested, quota_period
     from task where id = ?`,
  );
  const begin = db.prepare<
    { attempts: number },
    [at: number, deadline: number, change: number, id: string, token: string]
  >(
    `update task set stage = 'submitting', status = 'processing', attempts = attempts + 1,
       started_at = coalesce(started_at, ?), deadline_at = coalesce(deadline_at, ?), change = ?
     where id = ? and lease_token = ? and stage = 'queued' and cancel_requested = 0 returning attempts`,
  );
  const renew = db.prepare<never, [until: number, id: string, token: string]>(
    "update task set due_at = ? where id = ? and lease_token = ?",
  );

  function write(id: TaskId, standing: Standing, transition: Transition): void {
    if (transition.ending !== undefined) changes.mark(id);
    else if (transition.progress !== undefined) changes.markProgress(id, transition.progress);
    updateTask(id, standing, transition);
    if (transition.attempt !== undefined) {
      attempts.update(id, transition.attempt, transition.at, transition.to === "terminal");
    }
    ledger.post(standing.account_id, transition.ledger, transition.at);
    if (standing.quota_period !== null)
      quotas.settle(standing.key_id, standing.quota_period, transition.ledger);
    const usage = usageOf(transition);
    if (usage !== undefined) addUsage(standing, usage);
    insertAssets(transition.assets);
    if (transition.callback !== undefined) insertCallback(transition.callback);
  }

  return {
    standing: (id) => select.get(id) ?? undefined,
    begin(lease, intent) {
      const row = begin.get(intent.at, intent.deadlineAt, changes.next(), lease.task.id, lease.token);
      if (row === null) {
        const standing = select.get(lease.task.id);
        const isMine = standing?.lease_token === lease.token && standing.stage === "queued";
        return isMine ? "cancel_requested" : "lease_lost";
      }
      attempts.insert(lease.task.id, row.attempts, intent);
      return "begun";
    },
    renew: (lease, until) =>
      renew.run(until, lease.task.id, lease.token).changes === 1 ? "renewed" : "lease_lost",
    apply(lease, transition) {
      const standing = select.get(lease.task.id);
      if (standing === null || standing.lease_token !== lease.token) return "lease_lost";
      if (!transition.from.includes(standing.stage)) return "lease_lost";
      write(lease.task.id, standing, transition);
      return "applied";
    },
    write,
  };
}

function prepareUpdateTask(db: Database) {
  const update = db.prepare(
    `update task set stage = ?3, pool = ?4, lease_token = ?5, due_at = ?6, progress = max(progress, ?7),
       failures = coalesce(?8, failures), lane = coalesce(?9, lane), route_index = coalesce(?10, route_index),
       request = coalesce(?11, request), status = coalesce(?12, status), completed_at = coalesce(?13, completed_at),
       charged_micros = coalesce(?14, charged_micros), results = coalesce(?15, results), error = coalesce(?16, error),
       usage = coalesce(?17, usage), charge = coalesce(?18, charge)
     where id = ?1 and stage = ?2`,
  );
  return (id: TaskId, standing: Standing, transition: Transition): void => {
    const { pool, token, dueAt } = placement(standing, transition);
    const { ending } = transition;
    const { changes } = update.run(
      id,
      standing.stage,
      transition.to,
      pool,
      token,
      dueAt,
      transition.progress ?? 0,
      transition.failures ?? null,
      transition.lane ?? null,
      transition.routeIndex ?? null,
      json(transition.request),
      ending?.status ?? null,
      ending?.completedAt ?? null,
      ending?.charged ?? null,
      json(ending?.results),
      json(ending?.error),
      json(ending?.usage),
      json(ending?.chargeLines),
    );
    if (changes !== 1)
      throw new Error(`Transition ${transition.name} changed ${changes} tasks instead of one.`);
  };
}

interface Placement {
  readonly pool: Pool | null;
  readonly token: LeaseToken | null;
  readonly dueAt: number | null;
}

/** Where a task stands after a transition: finished, kept by its holder, or given back. */
function placement(standing: Standing, transition: Transition): Placement {
  if (transition.to === "terminal") return { pool: null, token: null, dueAt: null };
  if (transition.dueAt === undefined) {
    return { pool: "under_way", token: standing.lease_token, dueAt: standing.due_at };
  }
  // To be cancelled: due at once, and not behind others in a queue, whose lane may have no room.
  if (standing.cancel_requested === 1) return { pool: "under_way", token: null, dueAt: transition.at };
  if (transition.to !== "queued") return { pool: "under_way", token: null, dueAt: transition.dueAt };
  const pool = transition.dueAt <= transition.at ? "ready" : "waiting";
  return { pool, token: null, dueAt: transition.dueAt };
}

function prepareAttempts(db: Database) {
  const insert = db.prepare(
    `insert into attempt (id, task_id, sequence, provider, upstream_model, state, started_at)
     values (?, ?, ?, ?, ?, 'intent', ?)`,
  );
  const update = db.prepare(
    `update attempt set state = ?3, operation = coalesce(?4, operation), outputs = coalesce(?5, outputs),
       usage = coalesce(?6, usage), detail = coalesce(?7, detail), ended_at = coalesce(?8, ended_at),
       cost_micros = coalesce(?9, cost_micros)
     where id = ?1 and task_id = ?2`,
  );
  return {
    insert(id: TaskId, sequence: number, intent: AttemptIntent): void {
      insert.run(intent.id, id, sequence, intent.provider, intent.upstreamModel, intent.at);
    },
    update(id: TaskId, change: AttemptChange, at: number, isTaskOver: boolean): void {
      const isOver = isTaskOver || change.state === "rejected" || change.state === "done";
      const { changes } = update.run(
        change.id,
        id,
        change.state,
        json(change.operation),
        json(change.outputs),
        json(change.usage),
        change.detail ?? null,
        isOver ? at : null,
        change.costMicros ?? null,
      );
      if (changes !== 1) throw new Error(`Task ${id} has no attempt ${change.id}.`);
    },
  };
}

function prepareCallback(db: Database) {
  const insert = db.prepare(
    `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, due_at, created_at,
       pool, attempts, sends, redeliver)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ready', 0, 0, 0)`,
  );
  return (callback: NonNullable<Transition["callback"]>): void => {
    insert.run(
      callback.id,
      callback.taskId,
      callback.accountId,
      callback.keyId,
      callback.requestId,
      callback.url,
      callback.host,
      callback.state,
      callback.dueAt,
      callback.createdAt,
    );
  };
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
