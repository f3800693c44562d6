import { type Account, type ApiKey, keyStatus, type ManagementToken } from "../src/domain/account.ts";
import type { JsonObject } from "../src/domain/json.ts";
import { CURRENCY, formatAmount, type Micros, toMicros } from "../src/domain/money.ts";

/** JSON forms of what lies in a data folder. Times are Unix seconds and money is text, as in the HTTP API. */

const seconds = (ms: number) => Math.floor(ms / 1000);
const secondsOrNull = (ms: number | undefined) => (ms === undefined ? null : seconds(ms));

export function accountJson(account: Account): JsonObject {
  return {
    id: account.id,
    name: account.name,
    mode: account.mode,
    status: account.status,
    currency: CURRENCY,
    balance: formatAmount(account.balance),
    held: formatAmount(account.held),
    available: account.mode === "unlimited" ? null : formatAmount(available(account)),
    created_at: seconds(account.createdAt),
  };
}

/** @param now epoch milliseconds, for a key may have expired by then */
export function keyJson(key: ApiKey, now: number): JsonObject {
  const { policy, previous } = key;
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
  };
}

export function tokenJson(token: ManagementToken): JsonObject {
  return {
    id: token.id,
    name: token.name,
    display: token.display,
    status: tokenStatus(token),
    created_at: seconds(token.createdAt),
    revoked_at: secondsOrNull(token.revokedAt),
  };
}

export function tokenStatus(token: ManagementToken): "active" | "revoked" {
  return token.revokedAt === undefined ? "active" : "revoked";
}

export function available(account: Account): Micros {
  return toMicros(account.balance - account.held);
}
