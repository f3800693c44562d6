import type { JsonObject } from "../json.ts";
import { CURRENCY, formatAmount, type Micros } from "../money/money.ts";
import { formatMultiplier } from "../money/multiplier.ts";
import { formatDay, type UsageReport, type UsageRow, type UsageSum } from "../money/usage.ts";
import type { LedgerRow } from "../ports/account-store.ts";
import { type Account, type ApiKey, availableOf, keyStatus, type ManagementToken } from "./account.ts";

/*
 * What an operator is shown of accounts, keys and money as JSON, by the management API and on a data folder alike: never a secret,
 * times as Unix seconds, money as text, null where nothing is limited.
 */

const seconds = (ms: number) => Math.floor(ms / 1000);
const secondsOrNull = (ms: number | undefined) => (ms === undefined ? null : seconds(ms));
const amountOrNull = (amount: Micros | undefined) => (amount === undefined ? null : formatAmount(amount));

export function accountForm(account: Account): JsonObject {
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

/** @param now epoch milliseconds, for a key may have expired by then */
export function keyForm(key: ApiKey, now: number): JsonObject {
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
    signs_callbacks: key.signsCallbacks,
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

export function tokenStatus(token: ManagementToken): "active" | "revoked" {
  return token.revokedAt === undefined ? "active" : "revoked";
}

export function tokenForm(token: ManagementToken): JsonObject {
  return {
    id: token.id,
    name: token.name,
    display: token.display,
    status: tokenStatus(token),
    created_at: seconds(token.createdAt),
    revoked_at: secondsOrNull(token.revokedAt),
  };
}

export function ledgerForm(row: LedgerRow): JsonObject {
  return {
    at: seconds(row.at),
    kind: row.kind,
    balance_delta: formatAmount(row.balanceDelta),
    held_delta: formatAmount(row.heldDelta),
    balance: formatAmount(row.balance),
    task_id: row.taskId ?? null,
    reason: row.reason,
    actor: row.actor,
  };
}

export function usageForm({ by, since, until, rows, total }: UsageReport): JsonObject {
  return {
    by,
    since: formatDay(since),
    until: formatDay(until),
    currency: CURRENCY,
    rows: rows.map((row) => ({ ...subjectForm(row), ...sumForm(row) })),
    total: sumForm(total),
  };
}

function subjectForm({ account, key, model, day }: UsageRow): JsonObject {
  if (day !== undefined) return { day: formatDay(day) };
  if (model !== undefined) return { model };
  return {
    account_id: account?.id ?? null,
    account: account?.name ?? null,
    key_id: key?.id ?? null,
    key: key?.name ?? null,
  };
}

function sumForm(sum: UsageSum): JsonObject {
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
