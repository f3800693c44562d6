import type { Connection } from "../postgres/connection.ts";
import { type Statement, statement } from "../postgres/session.ts";
import type { ReadRows } from "./places.ts";
import { type MovedRow, type MovedTable, placeOf, typeIn } from "./tables.ts";

type Parameters = readonly (string | number)[];

/** Reads the rows of a PostgreSQL database by slices. */
export function rowsIn({ read }: Pick<Connection, "read">): ReadRows {
  const slices = new Map<string, Statement<MovedRow, Parameters>>();

  function sliceOf(table: MovedTable, hasBegun: boolean): Statement<MovedRow, Parameters> {
    const name = `${table.name} ${hasBegun}`;
    const stated = slices.get(name) ?? statement<MovedRow, Parameters>(sliceText(table, hasBegun));
    slices.set(name, stated);
    return stated;
  }

  return async (table, after, limit) => {
    const given = [...(after ?? []), limit];
    const rows = await read((session) => sliceOf(table, after !== undefined).all(session, ...given));
    const last = rows.at(-1);
    return { rows, place: last && placeOf(table.key, last) };
  };
}

function sliceText(table: MovedTable, hasBegun: boolean): string {
  const columns = table.columns.map(({ name, type }) =>
    type === "blob" ? `lower(hex("${name}")) as "${name}"` : `"${name}"`,
  );
  const key = table.key.map((name) => `"${table.name}"."${name}"`).join(", ");
  const types = { integer: "::bigint", text: "::text", blob: "::text" };
  const values = table.key.map((name, i) => {
    const type = typeIn(table, name);
    return type === "blob" ? `unhex($${i + 1}::text)` : `$${i + 1}${types[type]}`;
  });
  return `select ${columns.join(", ")} from "${table.name}"
    ${hasBegun ? `where (${key}) > (${values.join(", ")})` : ""} order by ${key} limit $${hasBegun ? table.key.length + 1 : 1}`;
}
