import type { Command } from "commander";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import { formatDay } from "../../src/domain/money/usage.ts";
import {
  AUDIT_CHECKS,
  type AuditCheck,
  type AuditDifference,
  type AuditReport,
} from "../../src/domain/ports/audit.ts";
import { LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { Output } from "../format/output.ts";
import { type Field, renderFields, renderTsv } from "../format/table.ts";
import { withExamples } from "../help/manual.ts";
import { addLocalCommand, type LocalFlags, readLocalConfig } from "../local.ts";

const CHECKS = Object.keys(AUDIT_CHECKS).length;
/** Checks whose figures are counts and not money. */
const COUNTS: readonly AuditCheck[] = ["usage_tasks", "usage_outputs", "callback_owed", "callback_attempts"];
/** Names of the two figures of a difference, unless they are "stored" and "must be". */
const FIGURE_NAMES: Partial<Record<AuditCheck, readonly [string, string]>> = {
  account_limit: ["holds", "may hold"],
  ledger_shape: ["moves the balance by", "and holds by"],
};

export function addAudit(program: Command, context: Context): void {
  const description = "recompute every balance, hold, charge, quota and usage, and report differences";
  const command = addLocalCommand(program, "audit", description).helpGroup(LOCAL_COMMANDS);
  withExamples(command, "svc audit", "svc audit --field adds_up");
  onRun<LocalFlags>(command, context, async ({ options, output }) => {
    const config = readLocalConfig(options, context);
    const { auditLocal } = await import("../../src/app/local.ts");
    const report = await auditLocal(config);
    const { differences } = report;
    output.show({ data_dir: config.dataDir, ...auditJson(report) }, () => auditText(report, output));
    if (differences.length === 0) return;
    throw new Failure(
      EXIT.error,
      "books_differ",
      `The books do not add up: ${differences.length} of ${CHECKS} checks failed; of each, the first difference is shown.`,
    );
  });
}

function auditJson({ rows, sums, differences }: AuditReport) {
  return {
    adds_up: differences.length === 0,
    checks: CHECKS,
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
    differences: differences.map((difference) => ({
      check: difference.check,
      rule: AUDIT_CHECKS[difference.check],
      account_id: difference.accountId ?? null,
      key_id: difference.keyId ?? null,
      task_id: difference.taskId ?? null,
      model: difference.model ?? null,
      day: dayOf(difference) ?? null,
      ledger_entry: difference.entry ?? null,
      stored: figure(difference, difference.stored),
      expected: figure(difference, difference.expected),
    })),
  };
}

function auditText(report: AuditReport, output: Output): string {
  const { rows, sums } = auditJson(report);
  const { currency, ...amounts } = sums;
  const counted = Object.entries(rows).map(([name, count]): Field => [name.replace("_", " "), String(count)]);
  const summed = Object.entries(amounts).map(([name, amount]): Field => [name, `${amount} ${currency}`]);
  const fields = renderFields([...counted, ...summed], output);
  const { style } = output;
  const { differences } = report;
  if (differences.length === 0) return `${fields}${style.green("adds up")}\n`;
  const found = differences.map((difference) => {
    const { check } = difference;
    return output.mode === "pretty"
      ? `${style.red("differs")}  ${check}: ${AUDIT_CHECKS[check]}\n         ${describe(difference)}\n`
      : renderTsv([["differs", check, describe(difference)]]);
  });
  return [fields, ...found].join("");
}

/** Describes one difference: `account acc_… stored 5.000000 USD, must be 4.000000 USD`. */
function describe(difference: AuditDifference): string {
  const { check, accountId, keyId, taskId, model, entry, stored, expected } = difference;
  const parts = [
    ["account", accountId],
    ["key", keyId],
    ["task", taskId],
    ["model", model],
    ["day", dayOf(difference)],
    ["ledger entry", entry],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  const [one, other] = FIGURE_NAMES[check] ?? ["stored", "must be"];
  const unit = COUNTS.includes(check) ? "" : ` ${CURRENCY}`;
  const figures = `${one} ${figure(difference, stored)}${unit}, ${other} ${figure(difference, expected)}${unit}`;
  return `${parts.join(", ")}: ${figures}`;
}

function figure({ check }: AuditDifference, value: bigint): string | number {
  return COUNTS.includes(check) ? Number(value) : formatAmount(value);
}

/** A quota for all time has no day. */
function dayOf({ check, day }: AuditDifference): string | undefined {
  if (day === undefined || (day === 0 && check.startsWith("quota_"))) return undefined;
  return formatDay(day);
}
