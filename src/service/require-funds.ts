import { availableOf, type Principal } from "../domain/access/account.ts";
import { type Micros, toMicros } from "../domain/money/money.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { answer } from "./created-task.ts";
import { readQuota } from "./read-account.ts";

export interface FundsDeps {
  readonly accounts: Pick<AccountStore, "account" | "keyQuota">;
  readonly clock: Pick<Clock, "now">;
}

/** Whichever limit leaves less than is needed, as a create reports it: the balance when both leave as little. */
export interface Shortage {
  readonly limitedBy: "balance" | "key_quota";
  readonly available: Micros;
}

/** What the account or the key's quota lacks for an amount now; undefined if both suffice. */
export async function shortageFor(
  deps: FundsDeps,
  principal: Principal,
  needed: Micros,
): Promise<Shortage | undefined> {
  const [account, quota] = await Promise.all([
    deps.accounts.account(principal.accountId),
    readQuota(deps, principal, deps.clock.now()),
  ]);
  const balance = (account && availableOf(account)) ?? Number.POSITIVE_INFINITY;
  const remaining = quota?.remaining ?? Number.POSITIVE_INFINITY;
  const least = Math.min(balance, remaining);
  if (least >= needed) return undefined;
  return { limitedBy: balance <= remaining ? "balance" : "key_quota", available: toMicros(least) };
}

/**
 * Refuses what cannot be paid now, before anything is done for it that takes long. The store decides again when the task is stored.
 * @throws AppError `insufficient_quota`
 */
export async function requireFunds(deps: FundsDeps, principal: Principal, needed: Micros): Promise<void> {
  const shortage = await shortageFor(deps, principal, needed);
  if (shortage !== undefined) answer({ kind: "insufficient_quota", ...shortage, needed }, principal);
}
