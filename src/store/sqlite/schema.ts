import { sql } from "drizzle-orm";
import {
  blob,
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { AccountMode } from "../../domain/access/account.ts";
import type { KeyPolicy } from "../../domain/access/key-policy.ts";
import type { TaskError } from "../../domain/errors.ts";
import type {
  AccountId,
  AssetId,
  AttemptId,
  KeyId,
  LeaseToken,
  ModelId,
  ProviderId,
  TaskId,
  TokenId,
} from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";
import type { Asset, MediaType } from "../../domain/media/asset.ts";
import type { PriceRule } from "../../domain/model/model.ts";
import type { LedgerKind } from "../../domain/money/ledger.ts";
import type { ChargeLine, Quote } from "../../domain/money/pricing.ts";
import type { GenerationRequest, TaskKind } from "../../domain/task/request.ts";
import type {
  AttemptOutput,
  AttemptState,
  Stage,
  TaskResult,
  TaskStatus,
  Usage,
} from "../../domain/task/task.ts";

/*
 * What the migrations in migrations/sqlite build, for typed queries; drizzle cannot express STRICT, WITHOUT ROWID and
 * triggers, so those stand only in the SQL. Times are epoch milliseconds, money is micro-units, JSON is text.
 */

export const account = sqliteTable(
  "account",
  {
    id: text().$type<AccountId>().primaryKey(),
    name: text().notNull().unique(),
    mode: text().$type<AccountMode>().notNull(),
    status: text().$type<"active" | "suspended">().notNull(),
    balanceMicros: integer("balance_micros").notNull(),
    heldMicros: integer("held_micros").notNull(),
    createdAt: integer("created_at").notNull(),
    /** How far below zero a prepaid account may go. */
    creditLimitMicros: integer("credit_limit_micros").notNull().default(0),
    /** Millionths. */
    priceMultiplier: integer("price_multiplier").notNull().default(1_000_000),
    lowBalanceMicros: integer("low_balance_micros"),
    /** Whether it was told that less than that is left. */
    lowBalanceTold: integer("low_balance_told", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    check("account_held", sql`${table.heldMicros} between 0 and 9007199254740991`),
    check("account_balance", sql`${table.balanceMicros} between -9007199254740991 and 9007199254740991`),
    check(
      "account_prepaid",
      sql`${table.mode} = 'unlimited' or ${table.balanceMicros} - ${table.heldMicros} + ${table.creditLimitMicros} >= 0`,
    ),
  ],
);

export const apiKey = sqliteTable(
  "api_key",
  {
    id: text().$type<KeyId>().primaryKey(),
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    name: text().notNull(),
    hash: text().notNull().unique(),
    display: text().notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    revokedAt: integer("revoked_at"),
    policy: text({ mode: "json" }).$type<KeyPolicy>().notNull().default({}),
    /** The secret before the last rotation, and until when it is still taken. */
    previousHash: text("previous_hash"),
    previousDisplay: text("previous_display"),
    previousExpiresAt: integer("previous_expires_at"),
    /** What its callbacks are signed with. In the clear, for signing needs it. */
    callbackSecret: text("callback_secret"),
  },
  (table) => [
    uniqueIndex("api_key_name").on(table.accountId, table.name).where(sql`"revoked_at" is null`),
    uniqueIndex("api_key_previous").on(table.previousHash).where(sql`"previous_hash" is not null`),
  ],
);

export const managementToken = sqliteTable(
  "management_token",
  {
    id: text().$type<TokenId>().primaryKey(),
    name: text().notNull(),
    hash: text().notNull().unique(),
    display: text().notNull(),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
  },
  (table) => [uniqueIndex("management_token_name").on(table.name).where(sql`"revoked_at" is null`)],
);

/**
 * Where a live task stands for `claim`, each pool with an index of its own; a finished task is in none.
 * `ready` queued and due · `waiting` queued, due later · `under_way` left the queue, or leased, or to be cancelled.
 */
export type Pool = "ready" | "waiting" | "under_way";

export const task = sqliteTable(
  "task",
  {
    id: text().$type<TaskId>().primaryKey(),
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    keyId: text("key_id").$type<KeyId>().notNull(),
    requestId: text("request_id").notNull(),
    kind: text().$type<TaskKind>().notNull(),
    model: text().$type<ModelId>().notNull(),
    origin: text().notNull(),
    callbackUrl: text("callback_url"),
    heldMicros: integer("held_micros").notNull(),
    createdAt: integer("created_at").notNull(),
    status: text().$type<TaskStatus>().notNull(),
    stage: text().$type<Stage>().notNull(),
    pool: text().$type<Pool>(),
    /** When `claim` may take the task; while it is leased, when the lease ends. */
    dueAt: integer("due_at"),
    leaseToken: text("lease_token").$type<LeaseToken>(),
    lane: text().$type<ProviderId>().notNull(),
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
    quote: text({ mode: "json" }).$type<Quote>().notNull(),
    request: text({ mode: "json" }).$type<GenerationRequest>().notNull(),
    /** Of a task somebody waits for on its create: what makes another request the same one. */
    syncScope: text("sync_scope"),
    /** The period of its key's quota that it is held in; none for a key without one. */
    quotaPeriod: integer("quota_period"),
    /** What `charged_micros` is the sum of. */
    charge: text({ mode: "json" }).$type<readonly ChargeLine[]>(),
    /** Orders all changes of status and progress, of all tasks: the number of this one's latest. */
    change: integer().notNull().default(0),
  },
  (table) => [
    // What a list is filtered by is in the index, so that a filter nothing matches reads the index alone.
    index("task_of_account").on(table.accountId, table.id, table.status, table.kind, table.model),
    index("task_under_way").on(table.dueAt, table.lane).where(sql`"pool" = 'under_way'`),
    index("task_ready").on(table.lane, table.accountId, table.id).where(sql`"pool" = 'ready'`),
    index("task_waiting").on(table.lane, table.dueAt).where(sql`"pool" = 'waiting'`),
    // The few somebody waits for are found at once at a start.
    index("task_waited_for").on(table.id).where(sql`"pool" is not null and "sync_scope" is not null`),
    // What has changed since a reader last looked.
    index("task_change").on(table.accountId, table.change),
    // Counts an account's and a key's live tasks.
    index("task_live").on(table.accountId, table.keyId, table.status).where(sql`"pool" is not null`),
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

export const attempt = sqliteTable(
  "attempt",
  {
    id: text().$type<AttemptId>().primaryKey(),
    taskId: text("task_id")
      .$type<TaskId>()
      .notNull()
      .references(() => task.id),
    sequence: integer().notNull(),
    provider: text().$type<ProviderId>().notNull(),
    upstreamModel: text("upstream_model").notNull(),
    state: text().$type<AttemptState>().notNull(),
    operation: text({ mode: "json" }).$type<Json>(),
    outputs: text({ mode: "json" }).$type<readonly AttemptOutput[]>(),
    usage: text({ mode: "json" }).$type<Usage>(),
    detail: text(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
    /** What the upstream charges the operator for it, as far as that is known. */
    costMicros: integer("cost_micros"),
  },
  (table) => [unique("attempt_of_task").on(table.taskId, table.sequence)],
);

export const asset = sqliteTable(
  "asset",
  {
    id: text().$type<AssetId>().primaryKey(),
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    taskId: text("task_id")
      .$type<TaskId>()
      .notNull()
      .references(() => task.id),
    role: text().$type<Asset["role"]>().notNull(),
    position: integer().notNull(),
    sha256: text().notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    type: text().$type<MediaType>().notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    durationMs: integer("duration_ms"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [unique("asset_of_task").on(table.taskId, table.role, table.position)],
);

export const ledgerEntry = sqliteTable(
  "ledger_entry",
  {
    id: integer().primaryKey(),
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    taskId: text("task_id").$type<TaskId>(),
    kind: text().$type<LedgerKind>().notNull(),
    balanceDeltaMicros: integer("balance_delta_micros").notNull(),
    heldDeltaMicros: integer("held_delta_micros").notNull(),
    reason: text().notNull(),
    at: integer().notNull(),
    /** Who did it: a key's or a token's id, `operator`, or `system`. */
    actor: text().notNull().default("system"),
  },
  (table) => [
    // Also finds an account's entries; a task belongs to one account. Entries without a task are never equal.
    uniqueIndex("ledger_entry_once").on(table.accountId, table.taskId, table.kind),
  ],
);

/** What a key with a quota has spent and reserved in a period; `period` is its first day, 0 for all time. WITHOUT ROWID. */
export const keyQuota = sqliteTable(
  "key_quota",
  {
    keyId: text("key_id")
      .$type<KeyId>()
      .notNull()
      .references(() => apiKey.id),
    period: integer().notNull(),
    usedMicros: integer("used_micros").notNull(),
    reservedMicros: integer("reserved_micros").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.period] }),
    check("key_quota_used", sql`${table.usedMicros} >= 0 and ${table.reservedMicros} >= 0`),
  ],
);

/** Prices that an operator set in place of the models' own. */
export const priceOverride = sqliteTable("price_override", {
  model: text().$type<ModelId>().primaryKey(),
  rule: text({ mode: "json" }).$type<PriceRule>().notNull(),
  setAt: integer("set_at").notNull(),
  reason: text().notNull(),
});

/** What the tasks that ended on a day came to; `day` counts from 1970-01-01 UTC. WITHOUT ROWID. */
export const usageDay = sqliteTable(
  "usage_day",
  {
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    day: integer().notNull(),
    keyId: text("key_id").$type<KeyId>().notNull(),
    model: text().$type<ModelId>().notNull(),
    completed: integer().notNull(),
    failed: integer().notNull(),
    cancelled: integer().notNull(),
    outputs: integer().notNull(),
    chargedMicros: integer("charged_micros").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.keyId, table.model] })],
);

export const idempotency = sqliteTable("idempotency", {
  id: integer().primaryKey(),
  /** Of key id, endpoint and key; see task-store/idempotency.ts. */
  digest: blob({ mode: "buffer" }).notNull(),
  fingerprint: text().notNull(),
  taskId: text("task_id").$type<TaskId>().notNull(),
  heldMicros: integer("held_micros").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Where each record is, by digest; WITHOUT ROWID. Records after `idempotency_merge.merged_id` may be missing. */
export const idempotencyIndex = sqliteTable("idempotency_index", {
  digest: blob({ mode: "buffer" }).primaryKey(),
  id: integer().notNull(),
});

/** One row: all records up to this one are in `idempotency_index`. */
export const idempotencyMerge = sqliteTable("idempotency_merge", {
  mergedId: integer("merged_id").notNull(),
});
