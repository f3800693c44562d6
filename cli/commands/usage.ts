import { type Command, Option } from "commander";
import { usageForm } from "../../src/domain/access/record-form.ts";
import { dayOf } from "../../src/domain/day.ts";
import { formatAmount, type MicrosSum } from "../../src/domain/money/money.ts";
import {
  formatDay,
  parseDay,
  parseSplit,
  type UsageGroup,
  type UsageRow,
  type UsageSplit,
  type UsageSum,
} from "../../src/domain/money/usage.ts";
import { suggest } from "../../src/domain/suggest.ts";
import type { Context } from "../context.ts";
import { suggesting } from "../flags/suggested.ts";
import { unreadable } from "../flags/values.ts";
import { csvOption, csvText, renderCsv } from "../format/csv.ts";
import { column } from "../format/table.ts";
import { parseDuration } from "../format/units.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { onManagedRun, withManagedFlags } from "../manage/managed.ts";

const SUBJECTS: Readonly<Record<UsageGroup, readonly string[]>> = {
  day: ["day"],
  model: ["model"],
  provider: ["provider"],
  account: ["account"],
  key: ["account", "key_id", "key"],
};
const SUMS = [
  ...["completed", "failed", "cancelled", "outputs", "charged", "upstream_cost", "margin"],
  "resubmitted",
];

interface Flags {
  readonly by: string;
  readonly since?: string;
  readonly until?: string;
  readonly account?: string;
  readonly csv?: boolean;
}

export function defineUsage(command: Command, context: Context): void {
  const subjects = Object.keys(SUBJECTS);
  const about = `a line for each: ${subjects.join(", ")}, or two of them, as day,model`;
  withManagedFlags(command)
    .addOption(suggesting(new Option("--by <what>", about).default("day"), subjects))
    .option("--since <when>", "first day, UTC: 2026-11-01, or how long ago (default 30d)")
    .option("--until <when>", "last day, UTC: 2026-11-30, or how long ago (default today)")
    .option("--account <account>", "id or name of one account (default all)")
    .addOption(csvOption());
  withExamples(
    command,
    "svc usage --since 30d",
    "svc usage --by model --account studio --csv",
    "svc usage --by day,key",
  );
  withNotes(
    command,
    "What is given back later is not taken off: charges and margins are before refunds, which svc ledger lists.",
  );
  onManagedRun<Flags>(command, context, async ({ options, output, open }) => {
    const { account, csv } = options;
    const split = readSplit(options.by);
    const now = Date.now();
    const days = {
      since: readDay("--since", options.since, now),
      until: readDay("--until", options.until, now),
    };
    const { manage } = await open();
    const names = subjectsOf(split);
    const report = await manage.readUsage({ ...split, account, ...days });
    if (csv === true) {
      const cells = report.rows.map((row) => [...subjectOf(row, names).map(csvText), ...cellsOf(row)]);
      context.stdout.write(renderCsv([...names, ...SUMS], cells));
      return;
    }
    const rows = report.rows.map((row) => [...subjectOf(row, names), ...cellsOf(row)]);
    // Only people get the sum: a program that adds up lines would count it twice.
    const total = ["total", ...names.slice(1).map(() => ""), ...cellsOf(report.total)];
    const shown = output.mode === "pretty" && rows.length > 1 ? [...rows, total] : rows;
    await output.list(usageForm(report), columnsOf(names), shown);
    if (rows.length === 0)
      output.say(`No task ended from ${formatDay(report.since)} to ${formatDay(report.until)}.`);
  });
}

/** Which sums a narrow terminal leaves out first. */
const SUM_RANKS: Readonly<Record<string, number>> = {
  ...{ resubmitted: 6, cancelled: 5, failed: 4, outputs: 3, margin: 2, upstream_cost: 1 },
};

/** The columns that tell lines apart. */
function subjectsOf({ by, and }: UsageSplit): string[] {
  return [...new Set([...SUBJECTS[by], ...(and === undefined ? [] : SUBJECTS[and])])];
}

function columnsOf(subjects: readonly string[]) {
  const title = (name: string) => name.toUpperCase().replace("_", " ");
  return [
    ...subjects.map((name) => (name === "key" ? column.id(title(name), 6) : column.text(title(name)))),
    ...SUMS.map((name) => column.number(title(name), SUM_RANKS[name])),
  ];
}

function subjectOf({ account, key, model, day, provider }: UsageRow, names: readonly string[]): string[] {
  const all: Readonly<Record<string, string | undefined>> = {
    ...{ day: day === undefined ? undefined : formatDay(day), model, provider },
    ...{ account: account?.name, key_id: key?.id, key: key?.name },
  };
  return names.map((name) => all[name] ?? "");
}

function readSplit(text: string): UsageSplit {
  const split = parseSplit(text);
  if (split !== undefined) return split;
  const subjects = Object.keys(SUBJECTS);
  const near = suggest(text, subjects);
  throw unreadable("--by", `one or two of ${subjects.join(", ")}, as day,model`, text, near);
}

function cellsOf(sum: UsageSum): string[] {
  const amount = (known: MicrosSum | undefined) => (known === undefined ? "" : formatAmount(known));
  return [
    ...[sum.completed, sum.failed, sum.cancelled, sum.outputs].map(String),
    formatAmount(sum.charged),
    amount(sum.cost),
    amount(sum.margin),
    String(sum.resubmitted),
  ];
}

function readDay(flag: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const day = /^\d+[dhm]$/.test(text) ? dayOf(now - parseDuration(text)) : parseDay(text);
  if (day !== undefined && day >= 0) return day;
  throw unreadable(flag, "a day like 2026-11-01, or a time ago like 30d", text);
}
