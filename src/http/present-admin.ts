import {
  type Account,
  type ApiKey,
  availableOf,
  keyStatus,
  type ManagementToken,
} from "../domain/account.ts";
import type { JsonObject } from "../domain/json.ts";
import { CURRENCY, formatAmount, type Micros } from "../domain/money.ts";
import { formatMultiplier } from "../domain/multiplier.ts";
import { formatDay } from "../domain/usage.ts";
import type { LedgerPage, Refunded } from "../service/manage-money.ts";
import type { UsageReport, UsageRow, UsageSum } from "../service/read-usage.ts";

/** What the management API shows: never a secret, times as Unix seconds, null where nothing is limited. */

const seconds = (ms: number) => Math.floor(ms / 1000);
const secondsOrNull = (ms: number | undefined) => (ms === undefined ? null : seconds(ms));
const amountOrNull = (amount: Micros | undefined) => (amount === undefined ? null : formatAmount(amount));

export function presentAccount(account: Account): JsonObject {
  return {
    id: account.id,
    name: account.name,
    mode: account.mode,
    status: account.status,
    currency: CURRENCY,
    balance: formatAmount(account.balance),
    held: formatAmount(account.held),
    available: amountOrNull(availableOf(account)),
    credit_limit: formatAmount(account.creditLimit),
    price_multiplier: formatMultiplier(account.priceMultiplier),
    low_balance: amountOrNull(account.lowBalance),
    created_at: seconds(account.createdAt),
  };
}

export function presentKey(key: ApiKey, now: number): JsonObject {
  const { policy, previous } = key;
  const { quota, priceMultiplier } = policy;
  return {
    id: key.id,
    name: key.name,
    account_id: key.accountId,
    display: key.display,
    status: keyStatus(key, now),
    created_at: seconds(key.createdAt),
    expires_at: secondsOrNull(key.expiresAt),
    revoked_at: secondsOrNull(key.revokedAt),
    previous: previous ? { display: previous.display, expires_at: seconds(previous.expiresAt) } : null,
    models: policy.models ?? null,
    features: policy.features ?? null,
    allow_ips: policy.allowIps ?? null,
    requests_per_minute: policy.requestsPerMinute ?? null,
    concurrency: policy.concurrency ?? null,
    aliases: policy.aliases ?? null,
    response_format: policy.responseFormat ?? null,
    sync_wait_seconds: policy.syncWaitSec ?? null,
    quota: quota ? { limit: formatAmount(quota.limit), reset: quota.reset } : null,
    price_multiplier: priceMultiplier === undefined ? null : formatMultiplier(priceMultiplier),
  };
}

export function presentToken(token: ManagementToken): JsonObject {
  return {
    id: token.id,
    name: token.name,
    display: token.display,
    status: token.revokedAt === undefined ? "active" : "revoked",
    created_at: seconds(token.createdAt),
    revoked_at: secondsOrNull(token.revokedAt),
  };
}

export function presentLedger({ rows, next }: LedgerPage): JsonObject {
  const entries = rows.map((row) => ({
    at: seconds(row.at),
    kind: row.kind,
    balance_delta: formatAmount(row.balanceDelta),
    held_delta: formatAmount(row.heldDelta),
    balance: formatAmount(row.balance),
    task_id: row.taskId ?? null,
    reason: row.reason,
    actor: row.actor,
  }));
  return { currency: CURRENCY, entries, next: next === undefined ? null : String(next) };
}

export function presentRefund({ taskId, amount, account }: Refunded): JsonObject {
  return {
    task_id: taskId,
    refunded: formatAmount(amount),
    currency: CURRENCY,
    account: presentAccount(account),
  };
}

export function presentUsage({ by, since, until, rows, total }: UsageReport): JsonObject {
  return {
    by,
    since: formatDay(since),
    until: formatDay(until),
    currency: CURRENCY,
    rows: rows.map((row) => ({ ...presentSubject(row), ...presentSum(row) })),
    total: presentSum(total),
  };
}

function presentSubject({ account, key, model, day }: UsageRow): JsonObject {
  if (day !== undefined) return { day: formatDay(day) };
  if (model !== undefined) return { model };
  return {
    account_id: account?.id ?? null,
    account: account?.name ?? null,
    key_id: key?.id ?? null,
    key: key?.name ?? null,
  };
}

function presentSum(sum: UsageSum): JsonObject {
  return {
    completed: sum.completed,
    failed: sum.failed,
    cancelled: sum.cancelled,
    outputs: sum.outputs,
    charged: formatAmount(sum.charged),
    upstream_cost: amountOrNull(sum.cost),
    margin: amountOrNull(sum.margin),
  };
}
