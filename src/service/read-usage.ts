import { dayOf } from "../domain/day.ts";
import { invalid } from "../domain/errors.ts";
import { sumMicros, toMicros } from "../domain/money/money.ts";
import {
  formatDay,
  sumUsage,
  type UsageGroup,
  type UsageReport,
  type UsageRow,
  type UsageSum,
} from "../domain/money/usage.ts";
import type { UsageLine } from "../domain/ports/usage-store.ts";
import { findAccount, type ManageAccountDeps } from "./management.ts";

/** How many days before today a report begins, unless given. */
const DEFAULT_DAYS = 30;

export interface UsageRequest {
  /** `day` unless given. */
  readonly by?: UsageGroup | undefined;
  /** First and last day, counted from 1970-01-01 UTC; from 30 days ago to today unless given. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Id or name; all accounts unless given. */
  readonly account?: string | undefined;
}

/** The part of `ManageAccounts` that is about usage. */
export function usageVerbs(deps: ManageAccountDeps) {
  return {
    /** Sums up the tasks that ended within some days, by key, model or day. Leaves refunds out. */
    async readUsage(request: UsageRequest): Promise<UsageReport> {
      const today = dayOf(deps.clock.now());
      const { by = "day", until = today } = request;
      const { since = Math.min(today - DEFAULT_DAYS, until) } = request;
      if (since > until) {
        const days = { given: formatDay(since), until: formatDay(until) };
        throw invalid({ kind: "since_after_until", field: "since", other: "until", ...days });
      }
      const owner = request.account === undefined ? undefined : await findAccount(deps, request.account);
      const lines = await deps.usage.report({ accountId: owner?.id, from: since, to: until, by });
      const nameOf = by === "key" ? await readNames(deps) : () => ({});
      const rows = lines.map((line): UsageRow => {
        const { model, day } = line;
        return { ...nameOf(line), model, day, ...sumOf([line]) };
      });
      return { by, since, until, rows, total: sumOf(lines) };
    },
  };
}

async function readNames({ accounts }: ManageAccountDeps) {
  const owners = new Map((await accounts.accounts()).map((account) => [account.id, account.name]));
  const keys = new Map((await accounts.keys()).map((key) => [key.id, key.name]));
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
  const cost = sumMicros(known.map((line) => line.cost));
  const charged = sumMicros(known.map((line) => line.chargedAtCost));
  return { ...total, cost, margin: toMicros(charged - cost) };
}
