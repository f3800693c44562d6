import { type Account, type ApiKey, availableOf, type Principal } from "../domain/access/account.ts";
import { dayOf, monthStartOf } from "../domain/day.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import { type Micros, type MicrosSum, maxMicros, subtractSum, ZERO } from "../domain/money/money.ts";
import { type Quota, quotaPeriod, quotaResetsAt } from "../domain/money/quota.ts";
import { sumUsage, type UsageTotal } from "../domain/money/usage.ts";
import type { AccountStore, QuotaUse } from "../domain/ports/account-store.ts";
import type { RateLimiter } from "../domain/ports/rate-limiter.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { LiveCounts, TaskStore } from "../domain/ports/task-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { listModels, type ModelDeps } from "./read-model.ts";

/** One limit of a key, and what is left of it. */
export interface LimitStatus {
  readonly metric: "requests" | "concurrent_tasks";
  readonly limit: number;
  /** Absent for a limit that does not count over a period. */
  readonly windowSec?: number | undefined;
  readonly remaining: number;
  /** When the limit is full again, in epoch milliseconds; absent while nothing is used, or when it is unknown. */
  readonly resetsAt?: number | undefined;
}

/**
 * What a key may spend, and how much is left in the present period. For tasks created in the period, `used` is charged and
 * `reserved` is held.
 */
export interface QuotaStatus extends Quota, QuotaUse {
  /** Never below zero, whatever the key spent before the limit was set. */
  readonly remaining: Micros;
  /** When the quota is full again, in epoch milliseconds; absent for one that never resets. */
  readonly resetsAt?: number | undefined;
}

/**
 * Why every create would be refused: the service is draining, the account has no money, the key's quota is used up, the key may
 * use none of the models, its requests of this minute are used up, or it has as many live tasks as it may.
 */
export type Blocker = "draining" | "balance" | "key_quota" | "models" | "rate_limit" | "concurrency";

/** The balance, limits and usage of a key and its account. */
export interface AccountStatus {
  readonly account: Account;
  readonly key: ApiKey;
  /** The total ever charged for the key's tasks. */
  readonly keyCharged: MicrosSum;
  /** Absent for a key without a quota. */
  readonly quota?: QuotaStatus | undefined;
  /** Contains only the limits that the key has. */
  readonly limits: readonly LimitStatus[];
  /** The amount that creates may hold; undefined for an unlimited account. */
  readonly available?: Micros | undefined;
  /** The account's tasks that ended since midnight, and since the month began, UTC. */
  readonly usage: { readonly today: UsageTotal; readonly month: UsageTotal };
  readonly tasks: LiveCounts;
  readonly blockedBy: readonly Blocker[];
  readonly at: number;
}

export interface ReadAccountDeps extends ModelDeps {
  readonly accounts: Pick<AccountStore, "account" | "key" | "keyQuota">;
  readonly tasks: Pick<TaskStore, "liveCounts">;
  readonly usage: Pick<UsageStore, "days" | "chargedTo" | "liveTasks">;
  readonly rateLimiter: Pick<RateLimiter, "peek">;
  readonly clock: Pick<Clock, "now">;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
}

/** Reads balance, limits and usage of the caller. The call is free and does not count as a request. */
export async function readAccount(deps: ReadAccountDeps, principal: Principal): Promise<AccountStatus> {
  const { accountId, keyId } = principal;
  const at = deps.clock.now();
  const [account, key, keyCharged, quota, limits, usage, tasks] = await Promise.all([
    deps.accounts.account(accountId),
    deps.accounts.key(keyId),
    deps.usage.chargedTo(accountId, keyId),
    readQuota(deps, principal, at),
    readLimits(deps, principal),
    readUsage(deps, accountId, at),
    deps.tasks.liveCounts(accountId),
  ]);
  // Accounts and keys are never deleted, but a backup that was restored while serving may lack them.
  if (account === undefined || key === undefined)
    throw new AppError("invalid_api_key", { kind: "key_invalid" });
  const available = availableOf(account);
  const blockedBy = blockers(deps, principal, { available, quota, limits });
  return { account, key, keyCharged, quota, limits, available, usage, tasks, blockedBy, at };
}

async function readUsage(deps: ReadAccountDeps, account: AccountId, at: number) {
  const today = dayOf(at);
  const days = await deps.usage.days(account, monthStartOf(at), today);
  return { today: sumUsage(days.filter(({ day }) => day === today)), month: sumUsage(days) };
}

/** What is left of a key's quota at a moment; undefined for a key without one. */
export async function readQuota(
  { accounts }: { readonly accounts: Pick<AccountStore, "keyQuota"> },
  { keyId, policy }: Pick<Principal, "keyId" | "policy">,
  at: number,
): Promise<QuotaStatus | undefined> {
  const { quota } = policy;
  if (quota === undefined) return undefined;
  return quotaStatus(quota, await accounts.keyQuota(keyId, quotaPeriod(quota.reset, at)), at);
}

/** What is left of a quota at a moment. */
export function quotaStatus(quota: Quota, { used, reserved }: QuotaUse, at: number): QuotaStatus {
  const left = subtractSum(subtractSum(quota.limit, used), reserved);
  const remaining = typeof left === "bigint" ? ZERO : maxMicros(left, ZERO);
  return { ...quota, used, reserved, remaining, resetsAt: quotaResetsAt(quota.reset, at) };
}

async function readLimits(deps: ReadAccountDeps, principal: Principal): Promise<LimitStatus[]> {
  const { requestsPerMinute, concurrency } = principal.policy;
  const limits: LimitStatus[] = [];
  if (requestsPerMinute !== undefined) {
    const window = await deps.rateLimiter.peek(principal.keyId, requestsPerMinute);
    limits.push({ metric: "requests", windowSec: 60, ...window });
  }
  if (concurrency !== undefined) {
    const live = await deps.usage.liveTasks(principal.accountId, principal.keyId, concurrency);
    limits.push({ metric: "concurrent_tasks", limit: concurrency, remaining: concurrency - live });
  }
  return limits;
}

function blockers(
  deps: ReadAccountDeps,
  principal: Principal,
  { available, quota, limits }: Pick<AccountStatus, "available" | "quota" | "limits">,
): Blocker[] {
  const isUsedUp = (metric: LimitStatus["metric"]) =>
    limits.some((limit) => limit.metric === metric && limit.remaining <= 0);
  const found: [Blocker, boolean][] = [
    ["draining", !deps.isAccepting()],
    ["balance", available !== undefined && available <= 0],
    ["key_quota", quota !== undefined && quota.remaining <= 0],
    ["models", listModels(deps, principal).length === 0],
    ["rate_limit", isUsedUp("requests")],
    ["concurrency", isUsedUp("concurrent_tasks")],
  ];
  return found.flatMap(([blocker, holds]) => (holds ? [blocker] : []));
}
