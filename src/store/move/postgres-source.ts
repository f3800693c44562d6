import { createAudit } from "../postgres/audit.ts";
import type { Connection } from "../postgres/connection.ts";
import { requireMigrated } from "../postgres/migrate.ts";
import { forgetMovedAway, movedAwayTo, noteMovedAway } from "../postgres/moved-away.ts";
import { databaseId } from "../postgres/node-store.ts";
import { type Statement, statement } from "../postgres/session.ts";
import { MoveError, type Source } from "./places.ts";
import { countRows, refuseServed } from "./postgres-state.ts";
import { type MovedRow, type MovedTable, type Place, placeOf, typeIn } from "./tables.ts";

const UNCOUNTED = statement<{ fromAt: number; untilAt: number }>(
  `select from_at as "fromAt", until_at as "untilAt" from uncounted_time order by from_at limit 1`,
);

type Parameters = readonly (string | number)[];

/**
 * Reads the rows of a PostgreSQL database, which no node may serve meanwhile.
 *
 * @param folder the folder that gets its rows
 * @throws MoveError `in_use`, `another` for rows that were moved to another folder; SchemaError, StorageError
 */
export async function openPostgresSource(connection: Connection, folder: string): Promise<Source> {
  const { driver, read } = connection;
  await requireMigrated(driver);
  await refuseServed(driver);
  const went = await movedAwayTo(driver);
  if (went !== undefined && went !== folder)
    throw new MoveError("another", `The rows of this database were moved to ${went}. Move that folder.`);
  const slices = new Map<string, Statement<MovedRow, Parameters>>();

  function sliceOf(table: MovedTable, hasBegun: boolean): Statement<MovedRow, Parameters> {
    const name = `${table.name} ${hasBegun}`;
    const stated = slices.get(name) ?? statement<MovedRow, Parameters>(sliceText(table, hasBegun));
    slices.set(name, stated);
    return stated;
  }

  return {
    id: await databaseId(connection),
    hasLeft: went !== undefined,
    count: (table) => read((session) => countRows(session, table)),
    async rows(table, after: Place | undefined, limit) {
      const given = [...(after ?? []), limit];
      const rows = await read((session) => sliceOf(table, after !== undefined).all(session, ...given));
      const last = rows.at(-1);
      return { rows, place: last && placeOf(table.key, last) };
    },
    uncounted: () => read((session) => UNCOUNTED.get(session)),
    audit: () => createAudit(connection).run("full"),
    async leave() {
      await noteMovedAway(driver, folder);
      try {
        // A node that started meanwhile has not seen this record.
        await refuseServed(driver);
      } catch (error) {
        await forgetMovedAway(driver);
        throw error;
      }
    },
    stop: () => connection.stop(),
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
