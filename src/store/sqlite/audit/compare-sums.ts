import type { SealedTable } from "../../../domain/ports/audit.ts";
import type { SumName } from "./checks.ts";
import { added, type FigureRow, type Figures, figuresIn, figuresOf, storedSums } from "./figures.ts";
import { openRows, spansBetween } from "./open-rows.ts";
import { type AuditReader, oneOf } from "./reader.ts";
import type { SealedPages } from "./seals.ts";
import { remainder } from "./weights.ts";

/** What all rows of a table add up to. */
export type Totals = Readonly<Record<SealedTable, Figures>>;

/**
 * Adds up all rows, and compares with what is stored. What is left of a sum is nothing, or what makes no difference: of quotas what keys had
 * used before, of usage the days that are not counted.
 *
 * @param pages those whose figures are known
 */
export async function compareSums(
  reader: AuditReader,
  pages: SealedPages,
): Promise<{ left: Readonly<Record<SumName, bigint>>; totals: Totals }> {
  const total = async (table: SealedTable) => {
    const { dialect } = reader;
    const others = JSON.stringify(spansBetween([...pages[table].keys()]));
    const text = `with ${openRows(dialect, table)} select ${figuresIn(dialect, table, true)} from ${table}`;
    return added([...pages[table].values(), figuresOf(await oneOf<FigureRow>(reader, text, others))]);
  };
  const totals = { task: await total("task"), ledger_entry: await total("ledger_entry") };
  const { usage = 0n, quota = 0n, owed = 0n } = totals.task;
  const { balance = 0n, held = 0n } = totals.ledger_entry;
  const stored = figuresOf(await oneOf<FigureRow>(reader, storedSums(reader.dialect)));
  const of = (name: string): bigint => stored[name] ?? 0n;
  return {
    totals,
    left: {
      usage: remainder(of("usage") - of("usageOfSums") - usage),
      quota: remainder(of("quota") - of("quotaOfSums") - quota),
      balance: remainder(of("balance") - balance),
      held: remainder(of("held") - held),
      // Where nobody is told of what owes nothing, and as many as owe, all are told.
      owed: of("unowed") === 0n ? of("owed") - owed : -1n,
    },
  };
}
