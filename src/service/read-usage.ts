import { dayOf } from "../domain/day.ts";
import { invalid } from "../domain/errors.ts";
import { addSums, subtractSum } from "../domain/money/money.ts";
import {
  formatDay,
  MOST_USAGE_LINES,
  sumUsage,
  type UsageReport,
  type UsageRow,
  type UsageSplit,
  type UsageSum,
} from "../domain/money/usage.ts";
import type { UsageLine, UsageQuery } from "../domain/ports/usage-store.ts";
import { readNames } from "./lists.ts";
import { findAccount, type ManageAccountDeps } from "./management.ts";

/** How many days before today a report begins by default. */
const DEFAULT_DAYS = 30;

export interface UsageRequest extends Partial<UsageSplit> {
  /** First and last day, counted from 1970-01-01 UTC; by default from 30 days ago to today. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Id or name; all accounts unless given. */
  readonly account?: string | undefined;
}

/** The days of a request, both included. @throws AppError `invalid_request` */
export function usageDays(
  { since: given, until: last }: Pick<UsageRequest, "since" | "until">,
  now: number,
): { since: number; until: number } {
  const today = dayOf(now);
  const until = last ?? today;
  const since = given ?? Math.min(today - DEFAULT_DAYS, until);
  if (since <= until) return { since, until };
  const days = { given: formatDay(since), until: formatDay(until) };
  throw invalid({ kind: "since_after_until", field: "since", other: "until", ...days });
}

/** The lines of a report. @throws AppError `invalid_request` if there are too many */
export async function usageLines(
  { usage }: Pick<ManageAccountDeps, "usage">,
  query: UsageQuery,
): Promise<UsageLine[]> {
  const lines = await usage.report(query);
  if (lines.length > MOST_USAGE_LINES) throw invalid({ kind: "usage_too_long", most: MOST_USAGE_LINES });
  return lines;
}

/** The part of `ManageAccounts` for usage. */
export function usageVerbs(deps: ManageAccountDeps) {
  return {
    /**
     * Sums up the tasks that ended in a range of days: by day, by something else that is given, or by two things. Leaves
     * refunds out.
     * @throws AppError `invalid_request`, `not_found`
     */
    async readUsage(request: UsageRequest): Promise<UsageReport> {
      const { since, until } = usageDays(request, deps.clock.now());
      const { by = "day", and } = request;
      const owner = request.account === undefined ? undefined : await findAccount(deps, request.account);
      const lines = await usageLines(deps, { accountId: owner?.id, from: since, to: until, by, and });
      const nameOf = await namesIn(deps, lines);
      const rows = lines.map((line): UsageRow => {
        const { model, day, provider } = line;
        return { ...nameOf(line), model, day, provider, ...sumOf([line]) };
      });
      return { by, and, since, until, rows, total: sumOf(lines) };
    },
  };
}

async function namesIn({ accounts }: ManageAccountDeps, lines: readonly UsageLine[]) {
  const idsOf = <Id>(of: (line: UsageLine) => Id | undefined) =>
    lines.map(of).filter((id) => id !== undefined);
  const owners = await readNames(
    accounts.accountNames,
    idsOf((line) => line.accountId),
  );
  const keys = await readNames(
    accounts.keyNames,
    idsOf((line) => line.keyId),
  );
  return ({ accountId, keyId }: UsageLine): Pick<UsageRow, "account" | "key"> => ({
    account: accountId && { id: accountId, name: owners.get(accountId) ?? accountId },
    key: keyId && { id: keyId, name: keys.get(keyId) ?? keyId },
  });
}

function sumOf(lines: readonly UsageLine[]): UsageSum {
  const known = lines.flatMap(({ cost, chargedAtCost }) =>
    cost === undefined || chargedAtCost === undefined ? [] : [{ cost, chargedAtCost }],
  );
  const resubmitted = lines.reduce((sum, line) => sum + (line.resubmitted ?? 0), 0);
  const total = { ...sumUsage(lines), resubmitted };
  if (known.length === 0) return total;
  const cost = addSums(known.map((line) => line.cost));
  const charged = addSums(known.map((line) => line.chargedAtCost));
  return { ...total, cost, margin: subtractSum(charged, cost) };
}
