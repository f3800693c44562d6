import type { Database } from "bun:sqlite";
import type { LeaseToken, TaskId } from "../../../domain/ids.ts";
import { usageOf } from "../../../domain/money/usage.ts";
import type { AttemptIntent } from "../../../domain/ports/claims.ts";
import {
  assertLegalMove,
  type Lease,
  type NewTask,
  type Stage,
  type Task,
} from "../../../domain/task/task.ts";
import { startedCallback, type Transition } from "../../../domain/task/transition.ts";
import { prepareInsertCallback } from "../callback-store/insert.ts";
import type { Labels } from "../labels.ts";
import type { Ledger } from "../ledger.ts";
import { prepareQuotas } from "../quotas.ts";
import { prepareAssets } from "./assets.ts";
import { type Attempts, prepareAttempts } from "./attempts.ts";
import { CHANGED_TASK, ENDED_ALIKE, ENDED_TASK } from "./changed-columns.ts";
import type { Changes } from "./changes.ts";
import type { Finished } from "./finished.ts";
import { LIVE, type Pool, type TaskRow } from "./task-table.ts";
import { prepareUsage } from "./usage.ts";

/** The part of a row that decides how a task may change. */
export type Standing = Pick<
  TaskRow,
  "stage" | "lease_token" | "due_at" | "failures" | "cancel_requested" | "quota_period" | "started_at"
>;

/** The same with the numbers by which other rows name the task and its account. */
type NumberedStanding = Standing & Pick<TaskRow, "number" | "account_number">;

/** Of a task what never changes, and whose usage its end counts as. */
type Owned = Pick<Task, "id" | "accountId" | "keyId" | "model">;

export type Advance = ReturnType<typeof prepareAdvance>;

/** The transition of `begin`, written before any byte is sent, so that the attempt is known after a crash. */
export const BEGIN = { from: "queued", to: "submitting" } as const satisfies Record<string, Stage>;

/**
 * Advances tasks. Uses raw statements: each task passes several times, and absent fields keep their values by
 * a coalesce. `Ledger.settle` follows, after the last of several in a row.
 */
export function prepareAdvance(
  db: Database,
  use: {
    readonly ledger: Ledger;
    readonly changes: Changes;
    readonly labels: Labels;
    readonly finished: Pick<Finished, "completed">;
  },
) {
  const { changes, finished } = use;
  const attempts = prepareAttempts(db, use.labels);
  const insertCallback = prepareInsertCallback(db);
  const write = prepareWrite(db, { ...use, attempts, insertCallback });
  const select = db.prepare<NumberedStanding, [id: string]>(
    `select number, account_number, stage, lease_token, due_at, failures, cancel_requested, quota_period, started_at
     from task where id = ?`,
  );
  const begin = prepareBegin(db);
  const renew = db.prepare<never, [until: number, id: string, token: string]>(
    "update task set due_at = ? where id = ? and lease_token = ?",
  );

  /** Writes what belongs to the first beginning of a task. */
  function begunFirst(task: NewTask, number: number, intent: AttemptIntent): void {
    attempts.insert(number, 1, intent);
    const told = startedCallback(task, intent.at, intent.id);
    if (told !== undefined) insertCallback(told);
  }

  return {
    standing: (id: TaskId) => select.get(id) ?? undefined,
    begin(lease: Lease, intent: AttemptIntent): "begun" | "cancel_requested" | "lease_lost" {
      const row = begin.get(intent.at, intent.deadlineAt, changes.next(), lease.task.id, lease.token);
      if (row === null) {
        const standing = select.get(lease.task.id);
        const isMine = standing?.lease_token === lease.token && standing.stage === BEGIN.from;
        return isMine ? "cancel_requested" : "lease_lost";
      }
      if (row.attempts === 1) begunFirst(lease.task, row.number, intent);
      else attempts.insert(row.number, row.attempts, intent);
      return "begun";
    },
    begunFirst,
    renew: (lease: Lease, until: number): "renewed" | "lease_lost" =>
      renew.run(until, lease.task.id, lease.token).changes === 1 ? "renewed" : "lease_lost",
    apply(lease: Lease, transition: Transition): "applied" | "lease_lost" {
      const standing = select.get(lease.task.id);
      if (standing === null || standing.lease_token !== lease.token) return "lease_lost";
      if (!transition.from.includes(standing.stage)) return "lease_lost";
      write(lease.task, standing, transition, lease.task.cancelRequested);
      finished.completed(lease.task, transition, standing);
      return "applied";
    },
    /** Ends a task whose row is as given, whoever has its lease. */
    end: (task: Owned, standing: NumberedStanding, ending: Transition) => write(task, standing, ending, true),
    latestAttempt: attempts.latest,
  };
}

function prepareBegin(db: Database) {
  assertLegalMove(BEGIN.from, BEGIN.to);
  return db.prepare<
    { number: number; attempts: number },
    [at: number, deadline: number, change: number, id: string, token: string]
  >(
    `update task set stage = '${BEGIN.to}', status = 'processing', attempts = attempts + 1,
       started_at = coalesce(started_at, ?), deadline_at = coalesce(deadline_at, ?), change = ?
     where id = ? and lease_token = ? and stage = '${BEGIN.from}' and cancel_requested = 0 returning number, attempts`,
  );
}

/** Returns a function that writes a whole transition. @throws Error for a move that is not legal */
function prepareWrite(
  db: Database,
  {
    ledger,
    changes,
    labels,
    attempts,
    insertCallback,
  }: {
    ledger: Ledger;
    changes: Changes;
    labels: Labels;
    attempts: Attempts;
    insertCallback: ReturnType<typeof prepareInsertCallback>;
  },
) {
  const quotas = prepareQuotas(db);
  const insertAssets = prepareAssets(db);
  const updateTask = prepareUpdateTask(db, { changes, labels });
  const addUsage = prepareUsage(db);
  const live = db.prepare<unknown, [id: string]>(`select 1 from task where id = ? and ${LIVE}`);
  return (task: Owned, standing: NumberedStanding, transition: Transition, isCancelKnown: boolean): void => {
    assertLegalMove(standing.stage, transition.to);
    const numbers = { account: standing.account_number, task: standing.number };
    if (transition.ending === undefined && transition.progress !== undefined)
      changes.markProgress(task.id, transition.progress);
    updateTask(standing, transition, isCancelKnown);
    if (transition.attempt !== undefined) {
      attempts.update(numbers.task, transition.attempt, transition);
    }
    ledger.end({ ...numbers, id: task.accountId }, transition.ledger, transition.at);
    if (standing.quota_period !== null) quotas.settle(task.keyId, standing.quota_period, transition.ledger);
    const usage = usageOf(transition);
    if (usage !== undefined) addUsage(task, usage);
    insertAssets(numbers, transition.assets);
    if (transition.callback !== undefined) insertCallback(transition.callback);
    const { groupEnd } = transition;
    if (groupEnd?.others.every((other) => live.get(other) === null)) insertCallback(groupEnd.callback);
  };
}

function prepareUpdateTask(
  db: Database,
  { changes, labels }: { readonly changes: Changes; readonly labels: Labels },
) {
  const alike = Object.keys(ENDED_ALIKE).flatMap((column) => [column, `${column}_label`]);
  const move = prepareSet(db, Object.keys(CHANGED_TASK));
  const end = prepareSet(db, [...Object.keys({ ...CHANGED_TASK, ...ENDED_TASK }), ...alike, "change"]);
  const changed = Object.values(CHANGED_TASK);
  const ended = Object.values({ ...CHANGED_TASK, ...ENDED_TASK });
  const endedAlike = Object.values(ENDED_ALIKE);

  return (standing: NumberedStanding, transition: Transition, isCancelKnown: boolean): void => {
    const { number, stage } = standing;
    const { pool, token, dueAt } = placement(standing, transition, isCancelKnown);
    const progress = transition.progress ?? 0;
    const isEnd = transition.ending !== undefined;
    const given = (isEnd ? ended : changed).map((value) => value(transition));
    const ending = isEnd
      ? [...endedAlike.flatMap((value) => labels.columns(value(transition))), changes.next()]
      : [];
    const update = isEnd ? end : move;
    const row = update.run(number, stage, transition.to, pool, token, dueAt, progress, ...given, ...ending);
    if (row.changes !== 1)
      throw new Error(`Transition ${transition.name} changed ${row.changes} tasks instead of one.`);
  };
}

/** A statement that sets the given columns, those with a value, besides those that every transition sets. */
function prepareSet(db: Database, columns: readonly string[]) {
  const changed = columns.map((column, i) => `${column} = coalesce(?${i + 8}, ${column})`);
  return db.prepare(
    `update task set stage = ?3, pool = ?4, lease_token = ?5, due_at = ?6, progress = max(progress, ?7), ${changed.join(", ")}
     where number = ?1 and stage = ?2`,
  );
}

/**
 * Pool, lease and due time after a transition: finished, kept by its holder, or given back.
 *
 * @param isCancelKnown whether the holder knew of the cancel that was requested, if one was
 */
export function placement(
  standing: Standing,
  transition: Transition,
  isCancelKnown: boolean,
): { pool: Pool | null; token: LeaseToken | null; dueAt: number | null } {
  const { to, at, dueAt } = transition;
  if (to === "terminal") return { pool: null, token: null, dueAt: null };
  if (dueAt === undefined) return { pool: "under_way", token: standing.lease_token, dueAt: standing.due_at };
  const isToBeCancelled = standing.cancel_requested === 1;
  if (to === "queued") {
    // Cancelling it needs no upstream. It must not wait in a queue whose lane may have no room.
    if (isToBeCancelled) return { pool: "under_way", token: null, dueAt: at };
    return { pool: dueAt <= at ? "ready" : "waiting", token: null, dueAt };
  }
  // Tells the upstream soon, but does not shorten the delay after a failure.
  const isNews = isToBeCancelled && !isCancelKnown && to === "running" && transition.failures === 0;
  return { pool: "under_way", token: null, dueAt: isNews ? at : dueAt };
}
