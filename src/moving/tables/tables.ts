import type { Row } from "../fields.ts";
import { UnreadableSource } from "../holdings.ts";

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
}

/**
 * Reads a table page by page, with the columns of the wish that it has. A column that it does not have is absent in each row.
 * @throws UnreadableSource where the table or a needed column is missing, which it names, or it has more than `MOST_ROWS` rows
 */
export async function* rowsOf(tables: Tables, wish: TableWish): AsyncGenerator<Row> {
  const there = await tables.columns(wish.table);
  if (there.size === 0) throw new UnreadableSource(`${tables.name} has no table ${wish.table}.`);
  const missing = wish.needed.filter((column) => !there.has(column));
  if (missing.length > 0) {
    const named = missing.join(", ");
    const what = `Table ${wish.table} of ${tables.name} has no ${named}`;
    throw new UnreadableSource(`${what}: its version is older or newer than those that can be read.`);
  }
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
