import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CallbackTerms } from "../../../domain/callback/callback.ts";
import type { TaskError } from "../../../domain/errors.ts";
import type { LaneId, LeaseToken, TaskId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { ChargeLine, Quote } from "../../../domain/money/pricing.ts";
import type { Relation } from "../../../domain/task/lineage.ts";
import type { TaskKind } from "../../../domain/task/request.ts";
import type { ResultIssue } from "../../../domain/task/result-issue.ts";
import type {
  NewTask,
  Stage,
  Task,
  TaskResult,
  TaskStatus,
  TaskSummary,
  Usage,
} from "../../../domain/task/task.ts";
import { numberOfAccount } from "../account-store/account-table.ts";
import type { Labels } from "../labels.ts";
import { json, optional, parse, type RawRow } from "../raw-row.ts";
import { NAMED, type Named } from "./named-columns.ts";
import { parentOf } from "./parent-columns.ts";
import { requestIn, type StoredRequest, storedRequestText } from "./stored-request.ts";

/**
 * Where `claim` looks for a live task. Each pool has its own index; a finished task is in none.
 * `ready` queued and due · `waiting` queued, due later · `under_way` left the queue, or leased, or to be cancelled. Only `under_way` counts in its lane, but for what awaits its results.
 */
export type Pool = "ready" | "waiting" | "under_way";

/**
 * What a live task is and an ended one, as SQL. The indexes of either are found by these very words. They name the status, which
 * changes twice in a task's life; a column that is written more often would have its indexes written as often.
 */
export const LIVE = "status in ('pending', 'processing')";
export const ENDED = "(status = 'completed' or status = 'failed' or status = 'cancelled')";

/** That a task awaits its results (`awaitsResults` of the domain), and that something may cancel a live one later, as SQL. Few are either. */
export const AWAITS_RESULTS = "stage = 'finalizing' and failures > 0";
export const CANCELS_LATER = `${LIVE} and cancels_later is not null`;

/** In the column `status`: all that is left of the task is what the books need. It is neither live nor ended. */
export const REMOVED = "removed";

/** That a group begins with a task which is not removed, as SQL. */
export const BEGINS_GROUP = "begins_group is not null";

export const task = sqliteTable(
  "task",
  {
    /** By which rows that belong to it name it. */
    number: integer().primaryKey(),
    id: text().$type<TaskId>().notNull().unique(),
    accountNumber: numberOfAccount(),
    keyLabel: integer("key_label").notNull(),
    requestId: text("request_id").notNull(),
    kind: text().$type<TaskKind>().notNull(),
    modelLabel: integer("model_label").notNull(),
    /** This, the usage, the quote and the lines of the charge are texts unless many tasks have them alike: then labels. */
    origin: text(),
    originLabel: integer("origin_label"),
    callbackUrl: text("callback_url"),
    heldMicros: integer("held_micros").notNull(),
    createdAt: integer("created_at").notNull(),
    status: text().$type<TaskStatus | typeof REMOVED>().notNull(),
    stage: text().$type<Stage>().notNull(),
    pool: text().$type<Pool>(),
    /** When `claim` may take the task; while it is leased, when the lease ends. */
    dueAt: integer("due_at"),
    leaseToken: text("lease_token").$type<LeaseToken>(),
    lane: text().$type<LaneId>().notNull(),
    routeIndex: integer("route_index").notNull(),
    attempts: integer().notNull(),
    failures: integer().notNull(),
    progress: integer().notNull(),
    cancelRequested: integer("cancel_requested", { mode: "boolean" }).notNull(),
    startedAt: integer("started_at"),
    deadlineAt: integer("deadline_at"),
    completedAt: integer("completed_at"),
    chargedMicros: integer("charged_micros"),
    results: text({ mode: "json" }).$type<readonly TaskResult[]>(),
    error: text({ mode: "json" }).$type<TaskError>(),
    usage: text({ mode: "json" }).$type<Usage>(),
    usageLabel: integer("usage_label"),
    quote: text({ mode: "json" }).$type<Quote>(),
    quoteLabel: integer("quote_label"),
    /** Without what columns say, and without empty lists. */
    request: text({ mode: "json" }).$type<StoredRequest>().notNull(),
    /** Set for a task whose creator waits: equal for requests that are the same. */
    syncScope: text("sync_scope"),
    /** The quota period that counts its hold; null without a quota. */
    quotaPeriod: integer("quota_period"),
    /** The lines that `charged_micros` is the sum of. */
    charge: text({ mode: "json" }).$type<readonly ChargeLine[]>(),
    chargeLabel: integer("charge_label"),
    /** Number of its latest change of status or progress. Numbers order the changes of all tasks. */
    change: integer().notNull().default(0),
    /** Results that a completed task does not have. */
    resultIssues: text("result_issues", { mode: "json" }).$type<readonly ResultIssue[]>(),
    /** `Task.setup`; empty where it has none. Changes with the lane. */
    setup: text().notNull().default(""),
    /** `GenerationRequest.retainSec`. */
    retainSec: integer("retain_sec"),
    /** When the files of its results were removed, because they were kept long enough. */
    filesRemovedAt: integer("files_removed_at"),
    /** `Task.callbackTerms`; null for the default. */
    callbackTerms: text("callback_terms", { mode: "json" }).$type<CallbackTerms>(),
    /** `Task.parent`, whose row may be gone. Of a removed task they stay. */
    parent: text().$type<TaskId>(),
    relation: text().$type<Relation>(),
    /** The number of the task that its family began with, where it is another one. */
    familyNumber: integer("family_number"),
    /** 1 of a task that a group begins with, until it is removed; else null. */
    beginsGroup: integer("begins_group"),
    /** 1 of a task that is to be cancelled at a time, or when another one of its group completes; else null. */
    cancelsLater: integer("cancels_later"),
  },
  (table) => [
    // Find the tasks of an account, and those of a filter. Written once, when a task ends.
    index("task_ended")
      .on(table.accountNumber, table.status, table.kind, table.modelLabel, table.id)
      .where(sql.raw(ENDED)),
    index("task_ended_of_all").on(table.status, table.kind, table.modelLabel, table.id).where(sql.raw(ENDED)),
    index("task_under_way").on(table.dueAt, table.lane).where(sql`"pool" = 'under_way'`),
    index("task_ready")
      .on(table.lane, table.setup, table.accountNumber, table.id)
      .where(sql`"pool" = 'ready'`),
    index("task_waiting").on(table.lane, table.dueAt).where(sql`"pool" = 'waiting'`),
    // Counts those that hold no place of their lane. Few have an entry.
    index("task_awaits_results").on(table.lane).where(sql.raw(AWAITS_RESULTS)),
    // Finds the few whose creators waited, at the start of the process.
    index("task_waited_for").on(table.id).where(sql`"pool" is not null and "sync_scope" is not null`),
    // Finds the tasks whose creators said how long their files stay, by when these go.
    index("task_files_due")
      .on(sql`"completed_at" + "retain_sec" * 1000`)
      .where(sql`"retain_sec" is not null and "files_removed_at" is null`),
    // Finds all that was made from a task.
    index("task_family")
      .on(table.familyNumber, table.accountNumber, table.id)
      .where(sql`"family_number" is not null`),
    // Finds the groups of an account.
    index("task_group").on(table.accountNumber, table.id).where(sql.raw(BEGINS_GROUP)),
    // Finds removed tasks of which the books still have rows, by when they were removed.
    index("task_removed").on(table.filesRemovedAt).where(sql`"status" = 'removed'`),
    index("task_cancels_later").on(table.id).where(sql.raw(CANCELS_LATER)),
    // Finds what has changed since a reader last looked.
    index("task_change").on(table.accountNumber, table.change),
    // Counts an account's and a key's live tasks, and finds those of a filter, also of all accounts. Every create pays for each index.
    index("task_live")
      .on(table.accountNumber, table.status, table.keyLabel, table.kind, table.modelLabel, table.id)
      .where(sql.raw(LIVE)),
    check(
      "task_pool",
      sql`("pool" is null) = ("stage" = 'terminal') and ("due_at" is null) = ("pool" is null)`,
    ),
    check(
      "task_queued",
      sql`"pool" is null or "pool" = 'under_way' or ("stage" = 'queued' and "lease_token" is null)`,
    ),
  ],
);

/** The column of a row that belongs to a task, where there are many such rows. */
export const numberOfTask = () =>
  integer("task_number")
    .notNull()
    .references(() => task.number);

/** The number of a task, as SQL; null for none. */
export const taskNumber = (id: string): string => `(select number from task where task.id = ${id})`;

/** The id of the task that a row names by its number, as SQL. */
export const TASK_ID = "(select task.id from task where task.number = task_number)";

/** The column of a row that belongs to a task, where there are few. */
export const ofTask = () =>
  text("task_id")
    .$type<TaskId>()
    .notNull()
    .references(() => task.id);

/** Columns of a task by the names that `Named` has for them, as SQL. */
export const named = (...columns: readonly (keyof Named)[]): string =>
  columns.map((column) => `${NAMED[column]} as ${column}`).join(", ");

/** A row of a task that is not removed. Whoever reads tasks by their ids leaves removed ones out. */
export type TaskRow = RawRow<typeof task> & { readonly status: TaskStatus } & Named;
/** The columns of `TaskRow`, as SQL. */
export const TASK_COLUMNS = `*, ${named("account_id", "key_id", "model", "whole_origin", "whole_quote", "whole_usage", "whole_charge")}`;

const SUMMARY = [
  ...["id", "kind", "status", "progress", "results", "error", "held_micros", "charged_micros"],
  ...["created_at", "completed_at", "cancel_requested", "result_issues", "files_removed_at", "started_at"],
  ...["parent", "relation"],
] as const satisfies readonly (keyof TaskRow)[];
export type SummaryRow = Pick<TaskRow, (typeof SUMMARY)[number] | "account_id" | "model" | "whole_usage">;
/** The columns of `SummaryRow`, as SQL. */
export const SUMMARY_COLUMNS = `${SUMMARY.join(", ")}, ${named("account_id", "model", "whole_usage")}`;

export function toSummary(row: SummaryRow): TaskSummary {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    model: row.model,
    status: row.status,
    progress: row.progress,
    cancelRequested: row.cancel_requested === 1,
    results: optional(row.results) ?? [],
    resultIssues: optional(row.result_issues),
    error: optional(row.error),
    held: toMicros(row.held_micros),
    charged: row.charged_micros === null ? undefined : toMicros(row.charged_micros),
    usage: optional(row.whole_usage),
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
    filesRemovedAt: row.files_removed_at ?? undefined,
    parent: parentOf(row),
  };
}

export function toTask(row: TaskRow): Task {
  return {
    ...toSummary(row),
    keyId: row.key_id,
    requestId: row.request_id,
    request: requestIn(row),
    quote: parse(row.whole_quote),
    origin: row.whole_origin ?? "",
    callbackUrl: row.callback_url ?? undefined,
    callbackTerms: optional(row.callback_terms),
    stage: row.stage,
    lane: row.lane,
    setup: row.setup === "" ? undefined : row.setup,
    routeIndex: row.route_index,
    attempts: row.attempts,
    failures: row.failures,
    syncScope: row.sync_scope ?? undefined,
    deadlineAt: row.deadline_at ?? undefined,
  };
}

/** What `admit` adds to a new task. */
export interface AdmittedWith {
  readonly labels: Pick<Labels, "of">;
  readonly quotaPeriod: number | undefined;
  readonly change: number;
}

/** Maps a new task to its columns but for the account; missing columns are null. */
export const NEW_TASK = {
  id: ({ id }) => id,
  key_label: ({ keyId }, { labels }) => labels.of(keyId),
  request_id: ({ requestId }) => requestId,
  kind: ({ kind }) => kind,
  model_label: ({ model }, { labels }) => labels.of(model),
  callback_url: ({ callbackUrl }) => callbackUrl ?? null,
  callback_terms: ({ callbackTerms }) => json(callbackTerms),
  held_micros: ({ held }) => held,
  created_at: ({ createdAt }) => createdAt,
  status: () => "pending",
  stage: () => "queued",
  pool: () => "ready",
  due_at: ({ createdAt }) => createdAt,
  lane: ({ lane }) => lane,
  setup: ({ setup }) => setup ?? "",
  route_index: ({ routeIndex }) => routeIndex,
  attempts: () => 0,
  failures: () => 0,
  progress: () => 0,
  cancel_requested: () => 0,
  request: ({ request }) => storedRequestText(request),
  sync_scope: ({ syncScope }) => syncScope ?? null,
  quota_period: (_, { quotaPeriod }) => quotaPeriod ?? null,
  change: (_, { change }) => change,
  retain_sec: ({ request }) => request.retainSec ?? null,
  parent: ({ parent }) => parent?.id ?? null,
  relation: ({ parent }) => parent?.relation ?? null,
  begins_group: ({ id, request: { group } }) => (group?.tasks[0] === id ? 1 : null),
  cancels_later: ({ request: { cancelAt, group } }) =>
    cancelAt !== undefined || group?.policy === "first" ? 1 : null,
} satisfies { readonly [C in NeverNull]: NewValue<C> } & { readonly [C in keyof TaskRow]?: NewValue<C> };

/** Texts of quotes: tasks that were asked for alike share one. */
const quoteTexts = new WeakMap<Quote, string>();

/** What of a new task many have alike, for columns of a text and of its label. */
export const NEW_ALIKE = {
  origin: ({ origin }) => origin,
  quote: ({ quote }) => quoteTexts.getOrInsertComputed(quote, (given) => JSON.stringify(given)),
} satisfies { readonly [C in keyof TaskRow]?: (task: NewTask) => string };

type NeverNull = Exclude<
  { [C in keyof TaskRow]: null extends TaskRow[C] ? never : C }[keyof TaskRow],
  keyof Named | "number" | "account_number"
>;
type NewValue<C extends keyof TaskRow> = (task: NewTask, admitted: AdmittedWith) => TaskRow[C];
