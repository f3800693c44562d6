import type { Account, ApiKey, ManagementToken } from "../../domain/account.ts";
import type { Asset } from "../../domain/asset.ts";
import type { Callback } from "../../domain/callback.ts";
import { type Micros, toMicros } from "../../domain/money.ts";
import type { StoredLedgerEntry } from "../../domain/ports/account-store.ts";
import type { Attempt, Task } from "../../domain/task.ts";
import type {
  account,
  apiKey,
  asset,
  attempt,
  callback,
  ledgerEntry,
  managementToken,
  task,
} from "./schema.ts";

/* From rows to what the ports speak of: null becomes absent, and sums are checked to be exact. */

export function toTask(row: typeof task.$inferSelect): Task {
  return {
    id: row.id,
    accountId: row.accountId,
    keyId: row.keyId,
    requestId: row.requestId,
    kind: row.kind,
    model: row.model,
    request: row.request,
    quote: row.quote,
    held: toMicros(row.heldMicros),
    origin: row.origin,
    callbackUrl: row.callbackUrl ?? undefined,
    status: row.status,
    stage: row.stage,
    progress: row.progress,
    lane: row.lane,
    routeIndex: row.routeIndex,
    attempts: row.attempts,
    failures: row.failures,
    cancelRequested: row.cancelRequested,
    results: row.results ?? [],
    error: row.error ?? undefined,
    charged: optionalMicros(row.chargedMicros),
    usage: row.usage ?? undefined,
    createdAt: row.createdAt,
    startedAt: row.startedAt ?? undefined,
    deadlineAt: row.deadlineAt ?? undefined,
    completedAt: row.completedAt ?? undefined,
  };
}

export function toAttempt(row: typeof attempt.$inferSelect): Attempt {
  return {
    id: row.id,
    taskId: row.taskId,
    sequence: row.sequence,
    provider: row.provider,
    upstreamModel: row.upstreamModel,
    state: row.state,
    operation: row.operation ?? undefined,
    outputs: row.outputs ?? undefined,
    usage: row.usage ?? undefined,
    detail: row.detail ?? undefined,
    startedAt: row.startedAt,
    endedAt: row.endedAt ?? undefined,
  };
}

export function toAsset(row: typeof asset.$inferSelect): Asset {
  return {
    id: row.id,
    accountId: row.accountId,
    taskId: row.taskId,
    role: row.role,
    index: row.position,
    sha256: row.sha256,
    sizeBytes: row.sizeBytes,
    type: row.type,
    width: row.width,
    height: row.height,
    durationMs: row.durationMs ?? undefined,
    createdAt: row.createdAt,
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
    createdAt: row.createdAt,
    expiresAt: row.expiresAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
  };
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
    attempts: row.attempts,
    state: row.state,
    dueAt: row.dueAt,
  };
}

function optionalMicros(value: number | null): Micros | undefined {
  return value === null ? undefined : toMicros(value);
}
