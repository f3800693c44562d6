import type { Principal } from "../domain/access/account.ts";
import {
  sumUsage,
  type UsageReport,
  type UsageRow,
  type UsageSplit,
  type UsageTotal,
} from "../domain/money/usage.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { readNames } from "./lists.ts";
import { type UsageRequest, usageDays, usageLines } from "./read-usage.ts";

export interface ReadOwnUsageDeps {
  readonly accounts: Pick<AccountStore, "keyNames">;
  /** Sums up in another thread. */
  readonly usage: Pick<UsageStore, "report">;
  readonly clock: Pick<Clock, "now">;
}

/** Usage as its account sees it, without the operator's costs. */
export interface OwnUsage extends Pick<UsageReport, "by" | "and" | "since" | "until"> {
  readonly rows: readonly (UsageTotal & Pick<UsageRow, "day" | "model" | "key">)[];
  readonly total: UsageTotal;
}

/**
 * Sums up the tasks of the caller's account that ended in a range of days, by day, model or key, or by two of them.
 * @throws AppError `invalid_request` if the last day is before the first, or if there are too many lines
 */
export async function readOwnUsage(
  deps: ReadOwnUsageDeps,
  { accountId }: Pick<Principal, "accountId">,
  { by, and, ...asked }: UsageSplit & Pick<UsageRequest, "since" | "until">,
): Promise<OwnUsage> {
  const { since, until } = usageDays(asked, deps.clock.now());
  const lines = await usageLines(deps, { accountId, from: since, to: until, by, and, isWithoutCosts: true });
  const names = await readNames(
    deps.accounts.keyNames,
    lines.map((line) => line.keyId).filter((id) => id !== undefined),
  );
  const rows = lines.map(({ day, model, keyId, ...line }) => ({
    ...{ day, model, key: keyId && { id: keyId, name: names.get(keyId) ?? keyId } },
    ...sumUsage([line]),
  }));
  return { by, and, since, until, rows, total: sumUsage(lines) };
}
