import { createAudit } from "../postgres/audit.ts";
import type { Connection } from "../postgres/connection.ts";
import { requireMigrated } from "../postgres/migrate.ts";
import { forgetMovedAway, movedAwayTo, noteMovedAway } from "../postgres/moved-away.ts";
import { databaseId } from "../postgres/node-store.ts";
import { statement } from "../postgres/session.ts";
import { MoveError, type Source } from "./places.ts";
import { rowsIn } from "./postgres-rows.ts";
import { countRows, refuseServed } from "./postgres-state.ts";

const UNCOUNTED = statement<{ fromAt: number; untilAt: number }>(
  `select from_at as "fromAt", until_at as "untilAt" from uncounted_time order by from_at limit 1`,
);

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
  return {
    id: await databaseId(connection),
    hasLeft: went !== undefined,
    count: (table) => read((session) => countRows(session, table)),
    rows: rowsIn(connection),
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
