import { amountOrNull } from "../../domain/access/record-form.ts";
import type { JsonObject } from "../../domain/json.ts";
import { CURRENCY, formatAmount } from "../../domain/money/money.ts";
import { formatDay, formatSplit, type UsageTotal } from "../../domain/money/usage.ts";
import type { AccountStatus, LimitStatus } from "../../service/read-account.ts";
import type { OwnUsage } from "../../service/read-own-usage.ts";

/** Balance, limits and usage of the caller. */
export function presentStatus(status: AccountStatus): JsonObject {
  const { account, usage, tasks } = status;
  return {
    account: { id: account.id, name: account.name, status: account.status },
    key: presentKey(status),
    balance: {
      mode: account.mode,
      currency: CURRENCY,
      total: formatAmount(account.balance),
      reserved: formatAmount(account.held),
      available: amountOrNull(status.available),
      credit_limit: account.mode === "unlimited" ? null : formatAmount(account.creditLimit),
    },
    usage: { today: presentUsage(usage.today), month: presentUsage(usage.month) },
    tasks: { pending: tasks.pending, processing: tasks.processing },
    can_create: status.blockedBy.length === 0,
    blocked_by: [...status.blockedBy],
    server_time: Math.floor(status.at / 1000),
  };
}

/** `data` of GET /v1/usage. */
export function presentOwnUsage({ since, until, rows, total, ...split }: OwnUsage): JsonObject {
  return {
    by: formatSplit(split),
    since: formatDay(since),
    until: formatDay(until),
    currency: CURRENCY,
    rows: rows.map(({ day, model, key, ...sum }) => ({
      ...(day !== undefined && { day: formatDay(day) }),
      ...(model !== undefined && { model }),
      ...(key !== undefined && { key_id: key.id, key: key.name }),
      ...presentSum(sum),
    })),
    total: presentSum(total),
  };
}

function presentSum({ completed, failed, cancelled, outputs, charged }: UsageTotal): JsonObject {
  return { completed, failed, cancelled, outputs, charged: formatAmount(charged) };
}

function presentKey({ key, keyCharged, quota, limits }: AccountStatus): JsonObject {
  const { models, features, allowIps } = key.policy;
  return {
    id: key.id,
    name: key.name,
    prefix: key.display,
    status: "active",
    expires_at: secondsOrNull(key.expiresAt),
    permissions: { models: models ?? null, features: features ?? null },
    ip_restricted: allowIps !== undefined,
    // A key without a limit has no period, and nothing that could remain or reset.
    quota: {
      limit: amountOrNull(quota?.limit),
      used: formatAmount(quota?.used ?? keyCharged),
      reserved: amountOrNull(quota?.reserved),
      remaining: amountOrNull(quota?.remaining),
      reset: quota?.reset ?? null,
      resets_at: secondsOrNull(quota?.resetsAt),
    },
    rate_limits: limits.map(presentLimit),
  };
}

function presentLimit(limit: LimitStatus): JsonObject {
  return {
    metric: limit.metric,
    limit: limit.limit,
    window_seconds: limit.windowSec ?? null,
    remaining: limit.remaining,
    resets_at: secondsOrNull(limit.resetsAt),
  };
}

function presentUsage(total: UsageTotal): JsonObject {
  return {
    tasks: total.completed + total.failed + total.cancelled,
    outputs: total.outputs,
    cost: formatAmount(total.charged),
    currency: CURRENCY,
  };
}

/** Rounds up, so that the change has happened by that second. */
function secondsOrNull(atMs: number | undefined): number | null {
  return atMs === undefined ? null : Math.ceil(atMs / 1000);
}
