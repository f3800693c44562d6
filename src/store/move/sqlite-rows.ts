import type { Database, SQLQueryBindings } from "bun:sqlite";
import { translating } from "../sqlite/errors.ts";
import type { ReadRows } from "./places.ts";
import { IDEMPOTENCY, type MovedRow, type MovedTable, placeOf, typeIn } from "./tables.ts";

/** Reads the rows of a data folder's database by slices. */
export function rowsIn(db: Database): ReadRows {
  return async (table, after, limit) =>
    translating(() => {
      const key = keyOf(table);
      const query = db.query<MovedRow, SQLQueryBindings[]>(sliceOf(table, key, after !== undefined));
      const rows = query.all(...(after ?? []), limit);
      const last = rows.at(-1);
      return { rows, place: last && placeOf(key, last) };
    });
}

/** Records can only be found by their number. */
const keyOf = ({ name, key }: MovedTable): readonly string[] => (name === IDEMPOTENCY ? ["id"] : key);

function sliceOf(table: MovedTable, key: readonly string[], hasBegun: boolean): string {
  const columns = table.columns.map(({ name, type }) =>
    type === "blob" ? `lower(hex("${name}")) as "${name}"` : `"${name}"`,
  );
  const own = key.filter((name) => !table.columns.some((column) => column.name === name));
  const names = key.map((name) => `"${name}"`).join(", ");
  const values = key.map((name) => (own.includes(name) || typeIn(table, name) !== "blob" ? "?" : "unhex(?)"));
  return `select ${[...columns, ...own].join(", ")} from "${table.name}"
    ${hasBegun ? `where (${names}) > (${values.join(", ")})` : ""} order by ${names} limit ?`;
}
