import type { JsonObject } from "../json.ts";
import { AUDIT_CHECKS, type AuditCheck, type AuditDifference, type AuditReport } from "../ports/audit.ts";
import { CURRENCY, formatAmount } from "./money.ts";
import { formatDay } from "./usage.ts";

/** Checks whose figures are counts, or checksums, and not money. */
const COUNTS: readonly AuditCheck[] = [
  ...(["usage_tasks", "usage_outputs", "callback_owed", "callback_attempts"] as const),
  ...(["sealed_tasks", "sealed_entries"] as const),
];

export const countsThings = (check: AuditCheck): boolean => COUNTS.includes(check);

/** Whether the books add up, what was read, and the first difference of each check that failed. */
export function auditForm({ rows, sums, differences, sealed }: AuditReport) {
  return {
    adds_up: differences.length === 0,
    checks: Object.keys(AUDIT_CHECKS).length,
    rows: {
      accounts: rows.accounts,
      ledger_entries: rows.ledgerEntries,
      tasks: rows.tasks,
      live_tasks: rows.liveTasks,
      quotas: rows.quotas,
      usage_days: rows.usageDays,
    },
    sums: {
      currency: CURRENCY,
      credited: formatAmount(sums.credited),
      captured: formatAmount(sums.captured),
      refunded: formatAmount(sums.refunded),
      balance: formatAmount(sums.balance),
      held: formatAmount(sums.held),
    },
    sealed: { depth: sealed.depth, tasks: sealed.tasks, ledger_entries: sealed.ledgerEntries },
    differences: differences.map((difference) => ({
      check: difference.check,
      rule: AUDIT_CHECKS[difference.check],
      account_id: difference.accountId ?? null,
      key_id: difference.keyId ?? null,
      task_id: difference.taskId ?? null,
      model: difference.model ?? null,
      day: dayOfDifference(difference) ?? null,
      ledger_entry: difference.entry ?? null,
      stored: figureForm(difference.check, difference.stored),
      expected: figureForm(difference.check, difference.expected),
    })),
  } satisfies JsonObject;
}

/** An amount, a count, or a checksum. */
export function figureForm(check: AuditCheck, value: bigint): string | number {
  return countsThings(check) ? Number(value) : formatAmount(value);
}

/** A quota for all time has no day. */
export function dayOfDifference({ check, day }: AuditDifference): string | undefined {
  if (day === undefined || (day === 0 && check.startsWith("quota_"))) return undefined;
  return formatDay(day);
}
