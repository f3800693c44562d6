import type { SealedTable } from "../../../domain/ports/audit.ts";
import type { AuditDialect } from "./checks.ts";
import { NUMBER_IN } from "./figures.ts";
import { runsOf } from "./reader.ts";
import { PAGE } from "./seal-table.ts";

/*
 * Open are the rows of pages that are not sealed. A statement about all rows of a table becomes one about the open ones by a common table
 * expression that goes by the table's name.
 */

/** First and last numbers of runs of rows. */
export type Spans = readonly (readonly [low: number, high: number])[];
/** Those that are open. */
export type OpenSpans = Readonly<Record<SealedTable, Spans>>;

/** The numbers that no sealed page has. */
export function spansBetween(sealed: readonly number[]): Spans {
  const runs = runsOf(sealed);
  const lows = [0, ...runs.map(([, last]) => (last + 1) * PAGE)];
  const highs = [...runs.map(([first]) => first * PAGE - 1), Number.MAX_SAFE_INTEGER];
  return lows.flatMap((low, index) => {
    const high = highs[index] ?? low;
    return high < low ? [] : [[low, high] as const];
  });
}

/** The numbers that pages have. */
export const spansOf = (pages: readonly number[]): Spans =>
  runsOf(pages).map(([first, last]) => [first * PAGE, (last + 1) * PAGE - 1]);

/** The rows of a table whose numbers are in the spans of a parameter, as SQL. */
const rowsWithin = (
  { whole, join, pairsIn }: AuditDialect,
  table: SealedTable,
  parameter: 1 | 2,
  columns: string,
) =>
  `select ${columns} from (${pairsIn(parameter)}) as span ${join} ${whole(table)} as stored
     on stored.${NUMBER_IN[table]} between span.low and span.high`;

/** Has a statement look at the open rows of a table alone. Its parameter is their spans. */
export const openRows = (dialect: AuditDialect, table: SealedTable): string =>
  `${table} as (${rowsWithin(dialect, table, 1, "stored.*")})`;

/**
 * Has a statement look at the open tasks, at those that open ledger entries name, and at all entries of these alone. Its parameters are the
 * spans of tasks and of entries.
 */
export function openTasksWithEntries(dialect: AuditDialect): string {
  const { whole, join } = dialect;
  return `looked_at (number) as (${rowsWithin(dialect, "task", 1, "stored.number")}
      union ${rowsWithin(dialect, "ledger_entry", 2, "stored.task_number")}),
    task as (select stored.* from ${whole("task")} as stored where stored.number in (select looked_at.number from looked_at)),
    ledger_entry as (select entry.* from looked_at ${join} ${whole("task")} as stored on stored.number = looked_at.number
      ${join} ${whole("ledger_entry")} as entry on entry.account_number = stored.account_number and entry.task_number = stored.number)`;
}
