import type { Account, ApiKey, ManagementToken } from "../src/domain/account.ts";
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

export function keyJson(key: ApiKey): JsonObject {
  return {
    id: key.id,
    name: key.name,
    account_id: key.accountId,
    display: key.display,
    status: statusOf(key),
    created_at: seconds(key.createdAt),
    expires_at: secondsOrNull(key.expiresAt),
    revoked_at: secondsOrNull(key.revokedAt),
  };
}

export function tokenJson(token: ManagementToken): JsonObject {
  return {
    id: token.id,
    name: token.name,
    display: token.display,
    status: statusOf(token),
    created_at: seconds(token.createdAt),
    revoked_at: secondsOrNull(token.revokedAt),
  };
}

export function statusOf(credential: { readonly revokedAt?: number | undefined }): "active" | "revoked" {
  return credential.revokedAt === undefined ? "active" : "revoked";
}

export function available(account: Account): Micros {
  return toMicros(account.balance - account.held);
}
