import type { SealedTable } from "../../../domain/ports/audit.ts";
import type { AuditDialect } from "./checks.ts";
import type { Figures } from "./figures.ts";

/** The last number of each table up to which all rows are there that ever will be. */
export type Settled = Readonly<Record<SealedTable | "label", number>>;

/** One moment of a database, as an audit reads it. */
export interface AuditReader {
  readonly dialect: AuditDialect;
  all<Row>(text: string, ...parameters: readonly string[]): Promise<Row[]>;
  /** What the rows of pages add up to. A page without rows may be missing. @param isWhole `false` leaves it at count and checksum */
  pages(
    table: SealedTable,
    pages: readonly number[],
    isWhole: boolean,
  ): Promise<ReadonlyMap<number, Figures>>;
  /** Undefined where it is not known, or nothing is to be sealed. */
  readonly settled: Settled | undefined;
}

/** The only row of an answer. */
export async function oneOf<Row>(reader: AuditReader, text: string, ...parameters: string[]): Promise<Row> {
  const [row] = await reader.all<Row>(text, ...parameters);
  if (row === undefined) throw new Error("Nothing could be counted.");
  return row;
}

/** Numbers in the order of the pages, each run of neighbours as its first and its last page. */
export function runsOf(pages: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const page of pages.toSorted((one, other) => one - other)) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === page - 1) last[1] = page;
    else runs.push([page, page]);
  }
  return runs;
}
