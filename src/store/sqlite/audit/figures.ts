import type { SealedTable } from "../../../domain/ports/audit.ts";
import { NO_PERIOD } from "../books-table.ts";
import { labelOf } from "../label-table.ts";
import { type AuditDialect, owes } from "./checks.ts";
import { MOVED_HALVES } from "./sums.ts";
import { mixed, reduced, sumOf, weighed, weightOf, weightOfNumber } from "./weights.ts";

/** What rows add up to, by name. Figures of pages add up to the figures of their table. */
export type Figures = Readonly<Record<string, bigint>>;
/** Figures as a statement returns them. */
export type FigureRow = Readonly<Record<string, string | number>>;

/** The number of a row. */
export const NUMBER_IN = { task: "number", ledger_entry: "id" } as const satisfies Record<
  SealedTable,
  string
>;

const DAY = "completed_at / 86400000";
const STATUS =
  "case status when 'completed' then 1 when 'failed' then 2 when 'cancelled' then 3 when 'removed' then 4 else 5 end";
const KIND =
  "case kind when 'hold' then 1 when 'capture' then 2 when 'release' then 3 when 'refund' then 4 when 'credit' then 5 else 6 end";
const lengthOfText = (column: string) => `coalesce(octet_length(${column}), -1)`;

/** Everything that the books say of a row, as one number. Results, and where callbacks go, count by their length. */
const ROW: Readonly<Record<SealedTable, (dialect: AuditDialect) => string>> = {
  task: ({ amountOf }) =>
    mixed([
      ...["account_number", "key_label", "model_label", reduced("held_micros")],
      ...[reduced("coalesce(charged_micros, -1)"), reduced("coalesce(completed_at, -1)"), STATUS],
      ...[
        "coalesce(quota_period, -2)",
        "coalesce(charge_label, -1)",
        "case when pool is null then 0 else 1 end",
      ],
      `case when charge is null then -1 else ${reduced(amountOf("charge"))} end`,
      ...[lengthOfText("results"), lengthOfText("callback_url"), lengthOfText("callback_terms")],
    ]),
  ledger_entry: () =>
    mixed([
      ...["account_number", "coalesce(task_number, -1)", KIND, reduced("balance_delta_micros")],
      ...[reduced("held_delta_micros"), reduced("at"), "coalesce(entries, -1)"],
    ]),
};

/** How many tasks ended, what they delivered and were charged, as one value. */
const used = (tasks: string, outputs: string, charged: string): string =>
  reduced(`${reduced(tasks)} * 7919 + ${reduced(outputs)} * 104729 + ${reduced(charged)}`);
/** The sum of a value over tasks that ended. */
const ofEnded = (value: string): string => sumOf(`case when stage = 'terminal' then ${value} else 0 end`);

/** What pages of a table add up to, as columns in SQL. A checksum is all that is needed to see whether a page is as it was. */
export function figuresIn(dialect: AuditDialect, table: SealedTable, isWhole: boolean): string {
  const checksum = sumOf(weighed(weightOfNumber(NUMBER_IN[table]), ROW[table](dialect)));
  const seen = `count(*) as rows, ${checksum} as checksum`;
  return isWhole ? `${seen}, ${WHOLE[table](dialect)}` : seen;
}

const WHOLE: Readonly<Record<SealedTable, (dialect: AuditDialect) => string>> = {
  task: (dialect) => {
    const outputs = `coalesce(${dialect.lengthOf("results")}, 0)`;
    const usage = weighed(
      weightOf(["account_number", "key_label", "model_label", DAY]),
      used("1", outputs, "coalesce(charged_micros, 0)"),
    );
    const quota = weighed(weightOf(["key_label", "quota_period"]), reduced("coalesce(charged_micros, 0)"));
    return `count(pool) as live, ${ofEnded(usage)} as usage, ${ofEnded(`coalesce(${quota}, 0)`)} as quota,
      count(*) filter (where ${owes(dialect)}) as owed`;
  },
  ledger_entry: () => `
    ${sumOf(weighed(weightOf(["account_number"]), reduced("balance_delta_micros")))} as balance,
    ${sumOf(weighed(weightOf(["account_number"]), reduced("held_delta_micros")))} as held,
    ${MOVED_HALVES}`,
};

/**
 * What is stored, less what sums of deleted tasks account for: the figures of all tasks and entries must come to the same. `unowed` counts
 * callbacks of tasks that have none to be sent.
 */
export function storedSums(dialect: AuditDialect): string {
  const account = "(select number from account where id = account_id)";
  const day = weightOf([
    ...[
      `coalesce(${account}, -1)`,
      `coalesce(${labelOf("key_id")}, -1)`,
      `coalesce(${labelOf("model")}, -1)`,
      "day",
    ],
  ]);
  const ofBooks = weightOf(["account_number", "key_label", "model_label", "day"]);
  const period = weightOf([`coalesce(${labelOf("key_id")}, -1)`, "period"]);
  const ofSums = weightOf(["key_label", "quota_period"]);
  const sum = (value: string, from: string) => `(select ${sumOf(value)} from ${from})`;
  return `select
    ${sum(weighed(day, used("(completed + failed + cancelled)", "outputs", "charged_micros")), "usage_day")} as usage,
    ${sum(weighed(ofBooks, used("tasks", "outputs", "charged_micros")), "books_day")} as "usageOfSums",
    ${sum(weighed(period, reduced("used_micros")), "key_quota")} as quota,
    ${sum(weighed(ofSums, reduced("charged_micros")), `books_day where quota_period <> ${NO_PERIOD}`)} as "quotaOfSums",
    ${sum(weighed(weightOf(["number"]), reduced("balance_micros")), "account")} as balance,
    ${sum(weighed(weightOf(["number"]), reduced("held_micros")), "account")} as held,
    (select count(distinct task.number) from callback ${dialect.join} task on ${TOLD}) as owed,
    (select count(*) from callback ${dialect.join} task on ${TOLD} where not ${owes(dialect)}) as unowed`;
}

/** Whether a callback tells how its task ended. */
const TOLD = "task.id = callback.task_id and task.status = callback.event";

/** Reads figures. */
export function figuresOf(row: FigureRow): Figures {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, BigInt(value)]));
}

/** Adds figures of the same table up. */
export function added(all: readonly Figures[]): Figures {
  const sum: Record<string, bigint> = {};
  for (const figures of all)
    for (const [name, value] of Object.entries(figures)) sum[name] = (sum[name] ?? 0n) + value;
  return sum;
}

/** Figures as they are stored. */
export const written = (figures: Figures): string =>
  JSON.stringify(Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, String(value)])));

/** Figures that were stored. @returns undefined for what are none */
export function readFigures(text: string): Figures | undefined {
  try {
    return figuresOf(JSON.parse(text) as FigureRow);
  } catch {
    return undefined;
  }
}
