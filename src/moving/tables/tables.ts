import type { Row } from "../fields.ts";
import { type LeftBehind, UnreadableSource } from "../holdings.ts";

/** The tables of another gateway's database, which is only read. */
export interface Tables {
  /** For messages; without a user's name or a password. */
  readonly name: string;
  /** The columns of a table; none where there is no such table. */
  columns(table: string): Promise<ReadonlySet<string>>;
  /** At most `limit` rows that come after one, in the order of a column whose values are all different. */
  page(query: PageQuery): Promise<readonly Row[]>;
  stop(): Promise<void>;
}

export interface PageQuery {
  readonly table: string;
  readonly columns: readonly string[];
  readonly by: string;
  /** The value of that column in the row before. */
  readonly after?: string | number | undefined;
  readonly limit: number;
}

const PAGE = 500;
/** No gateway that one program can take over has more. */
export const MOST_ROWS = 100_000;

/** What is wanted of a table: columns without which nothing of it makes sense, and columns that newer or older versions have. */
export interface TableWish {
  readonly table: string;
  readonly by: string;
  readonly needed: readonly string[];
  readonly optional: readonly string[];
  /** How versions are known by their columns, of tables that say who may do what. */
  readonly versions?: Versions | undefined;
}

export interface Versions {
  /** The optional columns that narrow a key. The first versions did not have them. */
  readonly narrowing: readonly string[];
  /** Columns that are known and not read. */
  readonly known: readonly string[];
}

const OTHER_VERSION = "its version is older or newer than those that can be read";
const MEND = "If a column has another name now, rename it in a copy of the database, and import that";

/**
 * Reads a table page by page, with the columns of the wish that it has. A column that it does not have is absent in each row.
 * @throws UnreadableSource where the table or a needed column is missing, which it names, where a column that narrows keys seems to
 *   have another name, or where it has more than `MOST_ROWS` rows
 */
export async function* rowsOf(tables: Tables, wish: TableWish): AsyncGenerator<Row> {
  const there = await tables.columns(wish.table);
  checkColumns(there, wish, tables.name);
  const columns = [...wish.needed, ...wish.optional.filter((column) => there.has(column))];
  let after: string | number | undefined;
  for (let count = 0; ; count += PAGE) {
    const rows = await tables.page({ table: wish.table, columns, by: wish.by, after, limit: PAGE });
    yield* rows;
    const last = rows.at(-1)?.[wish.by];
    if (rows.length < PAGE) return;
    if (count >= MOST_ROWS)
      throw new UnreadableSource(`Table ${wish.table} has more than ${MOST_ROWS} rows.`);
    after = typeof last === "number" ? last : String(last);
  }
}

/** Columns that no known version has: what they say does not come. */
export async function newColumns(tables: Tables, wish: TableWish): Promise<LeftBehind[]> {
  const unknown = unknownOf(await tables.columns(wish.table), wish);
  if (unknown.length === 0) return [];
  const why =
    "no version that is known has these columns, and they are not read: see whether they narrow keys";
  return [{ kind: "setting", from: `table ${wish.table}: ${unknown.join(", ")}`, why }];
}

function checkColumns(there: ReadonlySet<string>, wish: TableWish, name: string): void {
  if (there.size === 0)
    throw new UnreadableSource(`${name} has no table ${wish.table}. Is it the right database, and whole?`);
  const table = `Table ${wish.table} of ${name}`;
  const missing = wish.needed.filter((column) => !there.has(column));
  if (missing.length > 0)
    throw new UnreadableSource(`${table} has no ${missing.join(", ")}: ${OTHER_VERSION}. ${MEND}.`);
  const narrowing = (wish.versions?.narrowing ?? []).filter((column) => !there.has(column));
  const unknown = unknownOf(there, wish);
  // An old version lacks some, and has none that are not known.
  if (narrowing.length === 0 || unknown.length === 0) return;
  const has = `has no ${narrowing.join(", ")}, but ${unknown.join(", ")}, which no known version has`;
  throw new UnreadableSource(`${table} ${has}: keys could come wider than they are. ${MEND}.`);
}

function unknownOf(there: ReadonlySet<string>, { needed, optional, versions }: TableWish): string[] {
  if (versions === undefined) return [];
  const known = new Set([...needed, ...optional, ...versions.known]);
  return [...there].filter((column) => !known.has(column)).sort();
}
