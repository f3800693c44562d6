import type { Account, ApiKey, ManagementToken } from "../../domain/access/account.ts";
import type { Callback, CallbackAttempt } from "../../domain/callback/callback.ts";
import type { AccountId, AssetId, AttemptId, KeyId, ModelId, ProviderId, TaskId } from "../../domain/ids.ts";
import type { Asset } from "../../domain/media/asset.ts";
import { toMicros } from "../../domain/money/money.ts";
import type { StoredLedgerEntry } from "../../domain/ports/account-store.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { Attempt, AttemptState, Stage, Task, TaskStatus, TaskSummary } from "../../domain/task/task.ts";
import type { callback, callbackAttempt } from "./callback-store/schema.ts";
import type { account, apiKey, ledgerEntry, managementToken } from "./schema.ts";

/*
 * From rows to what the ports speak of: null becomes absent, and sums are checked to be exact. Tasks and attempts are read raw:
 * drizzle's mapping of thirty columns cost five times what SQLite took to find them. Everything else comes typed by drizzle.
 */

/** A row of `task` as SQLite gives it. */
export interface TaskRow {
  readonly id: TaskId;
  readonly account_id: AccountId;
  readonly key_id: KeyId;
  readonly request_id: string;
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly origin: string;
  readonly callback_url: string | null;
  readonly held_micros: number;
  readonly created_at: number;
  readonly status: TaskStatus;
  readonly stage: Stage;
  readonly lane: ProviderId;
  readonly route_index: number;
  readonly attempts: number;
  readonly failures: number;
  readonly progress: number;
  readonly cancel_requested: 0 | 1;
  readonly started_at: number | null;
  readonly deadline_at: number | null;
  readonly completed_at: number | null;
  readonly charged_micros: number | null;
  readonly results: string | null;
  readonly error: string | null;
  readonly usage: string | null;
  readonly quote: string;
  readonly request: string;
  readonly sync_scope: string | null;
}

/** The columns of `SummaryRow`, as SQL. */
export const SUMMARY_COLUMNS =
  "id, account_id, kind, model, status, progress, results, error, charged_micros, usage, created_at, completed_at";
export type SummaryRow = Pick<
  TaskRow,
  | "id"
  | "account_id"
  | "kind"
  | "model"
  | "status"
  | "progress"
  | "results"
  | "error"
  | "charged_micros"
  | "usage"
  | "created_at"
  | "completed_at"
>;

/** A row of `attempt` as SQLite gives it. */
export interface AttemptRow {
  readonly id: AttemptId;
  readonly task_id: TaskId;
  readonly sequence: number;
  readonly provider: ProviderId;
  readonly upstream_model: string;
  readonly state: AttemptState;
  readonly operation: string | null;
  readonly outputs: string | null;
  readonly usage: string | null;
  readonly detail: string | null;
  readonly started_at: number;
  readonly ended_at: number | null;
}

/** A row of `asset` as SQLite gives it. */
export interface AssetRow {
  readonly id: AssetId;
  readonly account_id: AccountId;
  readonly task_id: TaskId;
  readonly role: Asset["role"];
  readonly position: number;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly type: Asset["type"];
  readonly width: number;
  readonly height: number;
  readonly duration_ms: number | null;
  readonly created_at: number;
}

export function toSummary(row: SummaryRow): TaskSummary {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    model: row.model,
    status: row.status,
    progress: row.progress,
    results: optional(row.results) ?? [],
    error: optional(row.error),
    charged: row.charged_micros === null ? undefined : toMicros(row.charged_micros),
    usage: optional(row.usage),
    createdAt: row.created_at,
    completedAt: row.completed_at ?? undefined,
  };
}

export function toTask(row: TaskRow): Task {
  return {
    ...toSummary(row),
    keyId: row.key_id,
    requestId: row.request_id,
    request: parse(row.request),
    quote: parse(row.quote),
    held: toMicros(row.held_micros),
    origin: row.origin,
    callbackUrl: row.callback_url ?? undefined,
    stage: row.stage,
    lane: row.lane,
    routeIndex: row.route_index,
    attempts: row.attempts,
    failures: row.failures,
    cancelRequested: row.cancel_requested === 1,
    syncScope: row.sync_scope ?? undefined,
    startedAt: row.started_at ?? undefined,
    deadlineAt: row.deadline_at ?? undefined,
  };
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    id: row.id,
    taskId: row.task_id,
    sequence: row.sequence,
    provider: row.provider,
    upstreamModel: row.upstream_model,
    state: row.state,
    operation: optional(row.operation),
    outputs: optional(row.outputs),
    usage: optional(row.usage),
    detail: row.detail ?? undefined,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
  };
}

export function toAsset(row: AssetRow): Asset {
  return {
    id: row.id,
    accountId: row.account_id,
    taskId: row.task_id,
    role: row.role,
    index: row.position,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    type: row.type,
    width: row.width,
    height: row.height,
    durationMs: row.duration_ms ?? undefined,
    createdAt: row.created_at,
  };
}

export function toAccount(row: typeof account.$inferSelect): Account {
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    status: row.status,
    balance: toMicros(row.balanceMicros),
    held: toMicros(row.heldMicros),
    creditLimit: toMicros(row.creditLimitMicros),
    priceMultiplier: row.priceMultiplier,
    lowBalance: row.lowBalanceMicros === null ? undefined : toMicros(row.lowBalanceMicros),
    createdAt: row.createdAt,
  };
}

export function toLedgerEntry(row: typeof ledgerEntry.$inferSelect): StoredLedgerEntry {
  return {
    accountId: row.accountId,
    taskId: row.taskId ?? undefined,
    kind: row.kind,
    balanceDelta: toMicros(row.balanceDeltaMicros),
    heldDelta: toMicros(row.heldDeltaMicros),
    reason: row.reason,
    actor: row.actor,
    at: row.at,
  };
}

export function toApiKey(row: typeof apiKey.$inferSelect): ApiKey {
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    hash: row.hash,
    display: row.display,
    policy: row.policy,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
    signsCallbacks: row.callbackSecret !== null,
    previous: toPreviousSecret(row),
  };
}

function toPreviousSecret({
  previousDisplay: display,
  previousExpiresAt: expiresAt,
}: typeof apiKey.$inferSelect): ApiKey["previous"] {
  return display === null || expiresAt === null ? undefined : { display, expiresAt };
}

export function toManagementToken(row: typeof managementToken.$inferSelect): ManagementToken {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    display: row.display,
    createdAt: row.createdAt,
    revokedAt: row.revokedAt ?? undefined,
  };
}

export function toCallback(row: typeof callback.$inferSelect): Callback {
  return {
    id: row.id,
    taskId: row.taskId,
    requestId: row.requestId,
    url: row.url,
    accountId: row.accountId,
    keyId: row.keyId,
    host: row.host,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.dueAt,
    isRedeliveryDue: row.redeliver,
    createdAt: row.createdAt,
  };
}

export function toCallbackAttempt(row: typeof callbackAttempt.$inferSelect): CallbackAttempt {
  return {
    sequence: row.sequence,
    isRedelivery: row.isRedelivery,
    startedAt: row.startedAt,
    endedAt: row.endedAt ?? undefined,
    outcome: row.outcome ?? undefined,
    status: row.httpStatus ?? undefined,
    reason: row.reason ?? undefined,
    address: row.address ?? undefined,
    excerpt: row.excerpt ?? undefined,
  };
}

/** What the store wrote itself, so its type is known where it is read. */
function parse<T>(text: string): T {
  return JSON.parse(text) as T;
}

function optional<T>(text: string | null): T | undefined {
  return text === null ? undefined : parse<T>(text);
}
