import { isDeepStrictEqual } from "node:util";
import type { AuditReport } from "../../domain/ports/audit.ts";
import { MoveError, type Progress, type ReadRows, type Source, type Target } from "./places.ts";
import { IDEMPOTENCY, type MovedRow, type MovedTable, movedTables, type Place } from "./tables.ts";

/** How far a move has come. */
export interface MoveProgress {
  readonly table: string;
  /** Rows of this table that have arrived. */
  readonly rows: number;
  readonly of: number;
}

export type TellMove = (progress: MoveProgress) => void;

export interface MoveHooks {
  readonly tell: TellMove;
  /** Called when all rows have arrived and were compared, before the target may be served; also if the move is repeated. */
  readonly beforeServed?: (() => Promise<void>) | undefined;
}

/** What was moved, and the result of the audit, which is the same on both sides. */
export interface Moved {
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  readonly audit: AuditReport;
}

/** Rows of one transaction. */
const AT_ONCE = 2_000;

/**
 * Copies every row, then compares them and audits both sides in full: seals of audits are not copied. It can be killed and called
 * again; then it continues where it stopped. Nobody may write to the source meanwhile.
 *
 * @throws MoveError; StorageError when a database cannot be read or written
 */
export async function move(
  source: Source,
  target: Target,
  { tell, beforeServed = async () => {} }: MoveHooks,
): Promise<Moved> {
  const tables = movedTables();
  const isDone = await target.begin(source.id, tables);
  if (!isDone) for (const table of tables) await moveTable(source, target, table, tell);
  if (!isDone) await target.settle(await source.uncounted());
  const moved = await compared(source, target, tables);
  await beforeServed();
  // This comes first. If the move is interrupted here, neither database is served, and the move can be repeated.
  await source.leave?.();
  await target.finish();
  return moved;
}

async function moveTable(source: Source, target: Target, table: MovedTable, tell: TellMove): Promise<void> {
  const of = await source.count(table);
  let before = await target.progress(table);
  while (!before.isDone) {
    const { rows, place } = await source.rows(table, before.place, AT_ONCE);
    const after: Progress = {
      place: place ?? before.place,
      rows: before.rows + rows.length,
      isDone: rows.length < AT_ONCE,
    };
    await target.put(table, rows, before, after);
    before = after;
    tell({ table: table.name, rows: after.rows, of });
  }
}

/** @throws MoveError `differs` */
async function compared(source: Source, target: Target, tables: readonly MovedTable[]): Promise<Moved> {
  const counts = [];
  for (const table of tables) {
    const [there, rows] = [await source.count(table), await target.count(table)];
    counts.push({ table: table.name, rows });
    if (there !== rows)
      throw new MoveError(
        "differs",
        `The table ${table.name} has ${there} rows where it was and ${rows} where it went. Was something written meanwhile?`,
      );
    if ((await sumOf(source, table)) !== (await sumOf(target, table)))
      throw new MoveError(
        "differs",
        `The table ${table.name} has other rows where it was than where they went. Was something written meanwhile, or since a move that was cut off? Move into an empty place.`,
      );
  }
  const [before, audit] = [await source.audit(), await target.audit()];
  if (!isDeepStrictEqual(before, audit))
    throw new MoveError(
      "differs",
      "The audit says other things of the books where they went than where they were.",
    );
  return { tables: counts, audit };
}

/** What the rows of a table come to, in whatever order. Of records of keys only the latest arrive, so they are only counted. */
async function sumOf({ rows }: { readonly rows: ReadRows }, table: MovedTable): Promise<bigint> {
  let [sum, place]: [bigint, Place | undefined] = [0n, undefined];
  for (let isMore = table.name !== IDEMPOTENCY; isMore; ) {
    const slice = await rows(table, place, AT_ONCE);
    for (const row of slice.rows) sum += Bun.hash.xxHash64(textOf(table, row));
    isMore = slice.rows.length === AT_ONCE;
    place = slice.place;
  }
  return sum;
}

/** Databases differ in whether a large number is a text. */
const textOf = ({ columns }: MovedTable, row: MovedRow): string =>
  JSON.stringify(columns.map(({ name }) => (row[name] === null ? null : String(row[name]))));
