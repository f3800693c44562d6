import { type Account, type ApiKey, keyStatus, type ManagementToken } from "../domain/account.ts";
import type { JsonObject } from "../domain/json.ts";
import { CURRENCY, formatAmount, toMicros } from "../domain/money.ts";

/** What the management API shows: never a secret, times as Unix seconds, null where nothing is limited. */

const seconds = (ms: number) => Math.floor(ms / 1000);
const secondsOrNull = (ms: number | undefined) => (ms === undefined ? null : seconds(ms));

export function presentAccount(account: Account): JsonObject {
  const available = toMicros(account.balance - account.held);
  return {
    id: account.id,
    name: account.name,
    mode: account.mode,
    status: account.status,
    currency: CURRENCY,
    balance: formatAmount(account.balance),
    held: formatAmount(account.held),
    available: account.mode === "unlimited" ? null : formatAmount(available),
    created_at: seconds(account.createdAt),
  };
}

export function presentKey(key: ApiKey, now: number): JsonObject {
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
