import type { JsonObject } from "../json.ts";
import { CURRENCY, formatAmount, type MicrosSum } from "../money/money.ts";
import { formatDay, formatSplit, type UsageReport, type UsageRow, type UsageSum } from "../money/usage.ts";
import type { LedgerRow } from "../ports/account-store.ts";
import { type Account, type ApiKey, availableOf, keyStatus, type ManagementToken } from "./account.ts";
import { ACCOUNT_TERMS } from "./account-terms.ts";
import { KEY_LIMITS } from "./key-policy.ts";
import { termForms } from "./term-form.ts";

/* Accounts, keys and money as operators see them: no secrets, times in Unix seconds, money as text, null for no limit. */

const seconds = (ms: number) => Math.floor(ms / 1000);
const secondsOrNull = (ms: number | undefined) => (ms === undefined ? null : seconds(ms));
export const amountOrNull = (amount: MicrosSum | undefined) =>
  amount === undefined ? null : formatAmount(amount);

export function accountForm(account: Account): JsonObject {
  const { mode = null, ...terms } = termForms(ACCOUNT_TERMS, account);
  return {
    id: account.id,
    name: account.name,
    mode,
    status: account.status,
    currency: CURRENCY,
    balance: formatAmount(account.balance),
    held: formatAmount(account.held),
    available: amountOrNull(availableOf(account)),
    ...terms,
    created_at: seconds(account.createdAt),
  };
}

/** @param now epoch milliseconds; decides whether the key has expired */
export function keyForm(key: Omit<ApiKey, "hash">, now: number): JsonObject {
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
    signs_callbacks: key.signsCallbacks,
    previous: previous ? { display: previous.display, expires_at: seconds(previous.expiresAt) } : null,
    ...termForms(KEY_LIMITS, policy),
  };
}

/** @param now epoch milliseconds; decides whether the token has expired */
export function tokenForm(token: Omit<ManagementToken, "hash">, now: number): JsonObject {
  return {
    id: token.id,
    name: token.name,
    display: token.display,
    status: keyStatus(token, now),
    scopes: token.scopes,
    created_at: seconds(token.createdAt),
    expires_at: secondsOrNull(token.expiresAt),
    last_used_at: secondsOrNull(token.lastUsedAt),
    revoked_at: secondsOrNull(token.revokedAt),
  };
}

export function ledgerForm(row: Omit<LedgerRow, "number" | "accountId">): JsonObject {
  return {
    at: seconds(row.at),
    kind: row.kind,
    balance_delta: formatAmount(row.balanceDelta),
    held_delta: formatAmount(row.heldDelta),
    balance: formatAmount(row.balance),
    task_id: row.taskId ?? null,
    entries: row.entries ?? null,
    reason: row.reason,
    actor: row.actor,
  };
}

export function usageForm({ since, until, rows, total, ...split }: UsageReport): JsonObject {
  return {
    by: formatSplit(split),
    since: formatDay(since),
    until: formatDay(until),
    currency: CURRENCY,
    rows: rows.map((row) => ({ ...subjectForm(row), ...sumForm(row) })),
    total: sumForm(total),
  };
}

function subjectForm({ account, key, model, day, provider }: UsageRow): JsonObject {
  return {
    ...(day !== undefined && { day: formatDay(day) }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(account !== undefined && { account_id: account.id, account: account.name }),
    ...(key !== undefined && { key_id: key.id, key: key.name }),
  };
}

function sumForm(sum: UsageSum): JsonObject {
  return {
    completed: sum.completed,
    failed: sum.failed,
    cancelled: sum.cancelled,
    outputs: sum.outputs,
    resubmitted: sum.resubmitted,
    charged: formatAmount(sum.charged),
    upstream_cost: amountOrNull(sum.cost),
    margin: amountOrNull(sum.margin),
  };
}
