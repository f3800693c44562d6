import { type Command, Option } from "commander";
import { auditForm, countsThings, dayOfDifference, figureForm } from "../../src/domain/money/audit-form.ts";
import { CURRENCY } from "../../src/domain/money/money.ts";
import {
  AUDIT_CHECKS,
  type AuditCheck,
  type AuditDepth,
  type AuditDifference,
  type AuditReport,
} from "../../src/domain/ports/audit.ts";
import { onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { Output } from "../format/output.ts";
import { type Field, renderFields, renderTsv } from "../format/table.ts";
import { withExamples } from "../help/manual.ts";
import { auditBooks } from "../manage/books.ts";
import { withManagedFlags } from "../manage/managed.ts";
import type { PlaceFlags } from "../manage/place.ts";
import { addLog } from "./audit/log.ts";

const CHECKS = Object.keys(AUDIT_CHECKS).length;
/** Names of the two figures of a difference, unless they are "stored" and "must be". */
const FIGURE_NAMES: Partial<Record<AuditCheck, readonly [string, string]>> = {
  account_limit: ["holds", "may hold"],
  ledger_shape: ["moves the balance by", "and holds by"],
  sealed_tasks: ["checksum", "sealed with"],
  sealed_entries: ["checksum", "sealed with"],
};

type Flags = PlaceFlags & { readonly full?: boolean; readonly new?: boolean };

export function defineAudit(command: Command, context: Context, [word]: readonly string[]): void {
  addLog(command, context);
  // The flags would be taken for those of `audit`.
  if (word === "log") return;
  withManagedFlags(command);
  command
    .option("--full", "check every row, also those that an earlier audit has verified and sealed")
    .addOption(new Option("--new", "check only what is new: take seals at their word").conflicts("full"));
  withExamples(command, "svc audit", "svc audit --field adds_up", [
    "svc audit --full",
    "check every row again, and seal what is right anew",
  ]);
  onRun<Flags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const { report, place, unsealed } = await auditBooks(invocation, depthOf(options));
    const { differences } = report;
    output.show({ ...place, ...auditForm(report) }, () => auditText(report, output));
    const said = sealedText(report);
    if (said !== undefined) output.say(said);
    if (unsealed !== undefined)
      output.warn(
        `What was verified could not be sealed: ${unsealed}. The next audit reads it in full again.`,
      );
    if (differences.length === 0) return;
    throw new Failure(
      EXIT.error,
      "books_differ",
      `The books do not add up: ${differences.length} of ${CHECKS} checks failed; of each, the first difference is shown.`,
    );
  });
}

const depthOf = ({ full, new: isNew }: Flags): AuditDepth => (full ? "full" : isNew ? "new" : "checksums");

/** What was not checked in full, and why. */
function sealedText({ sealed: { depth, tasks, ledgerEntries } }: AuditReport): string | undefined {
  if (tasks === 0 && ledgerEntries === 0) return undefined;
  const rows = `${counted(tasks, "task", "tasks")}, ${counted(ledgerEntries, "ledger entry", "ledger entries")}`;
  return depth === "new"
    ? `Rows that an audit verified before, and that were not read: ${rows}.`
    : `Rows that are as they were when an audit verified them: ${rows}.`;
}

const counted = (count: number, one: string, several: string): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : several}`;

function auditText(report: AuditReport, output: Output): string {
  const { rows, sums } = auditForm(report);
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

/** Describes one difference: `account acc_… stored 5.000000 USD, must be 4.000000 USD`. Of a page it names the first row. */
function describe(difference: AuditDifference): string {
  const { check, accountId, keyId, taskId, model, entry, stored, expected } = difference;
  const page = check.startsWith("sealed_") ? "page from " : "";
  const parts = [
    ["account", accountId],
    ["key", keyId],
    [`${page}task`, taskId],
    ["model", model],
    ["day", dayOfDifference(difference)],
    [`${page}ledger entry`, entry],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  const [one, other] = FIGURE_NAMES[check] ?? ["stored", "must be"];
  const unit = countsThings(check) ? "" : ` ${CURRENCY}`;
  const figures = `${one} ${figureForm(check, stored)}${unit}, ${other} ${figureForm(check, expected)}${unit}`;
  return `${parts.join(", ") || "lines of charges"}: ${figures}`;
}
