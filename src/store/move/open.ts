import { dirname, resolve } from "node:path";
import { type Connection, openConnection } from "../postgres/connection.ts";
import { type Moved, type MoveHooks, move, type TellMove } from "./move.ts";
import type { Source, Target } from "./places.ts";
import { openPostgresSource } from "./postgres-source.ts";
import { openPostgresTarget } from "./postgres-target.ts";
import { openSqliteSource } from "./sqlite-source.ts";
import { openSqliteTarget } from "./sqlite-target.ts";

export type { Moved, MoveProgress, TellMove } from "./move.ts";

interface Places {
  readonly from: string;
  readonly to: string;
  /** Called after each slice of a table. */
  readonly tell?: TellMove;
  /** Called when all rows have arrived, before the target may be served; it may be called again. */
  readonly beforeServed?: (() => Promise<void>) | undefined;
}

interface PlacesThere extends Places {
  /** Called after that: records that the folder is not served any more. */
  readonly leave?: (() => Promise<void>) | undefined;
}

/** One for a transaction, one beside it. */
const CONNECTIONS = 2;

/**
 * Copies every row of a data folder's database into an empty database of PostgreSQL. It can be killed and called again. Nobody may
 * write to the folder meanwhile: hold its lock.
 *
 * @param from path of the file @param to URL of the database, which gets its tables
 * @throws MoveError; SchemaError, StorageError
 */
export function moveToPostgres({ from, to, leave, ...hooks }: PlacesThere): Promise<Moved> {
  return between(
    async () => ({ ...openSqliteSource(from), leave }),
    () => onConnection(to, openPostgresTarget),
    hooks,
  );
}

/**
 * Copies every row of a PostgreSQL database into a new file. It can be killed and called again. No node may serve the database.
 *
 * @param from URL of the database @param to path of the file, which appears only when it is complete
 * @throws MoveError; SchemaError, StorageError
 */
export function moveToSqlite({ from, to, ...hooks }: Places): Promise<Moved> {
  return between(
    () => onConnection(from, (connection) => openPostgresSource(connection, dirname(resolve(to)))),
    async ({ hasLeft }) => openSqliteTarget(to, hasLeft),
    hooks,
  );
}

async function onConnection<T>(url: string, open: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = openConnection({ url, connections: CONNECTIONS });
  try {
    return await open(connection);
  } catch (error) {
    await connection.stop();
    throw error;
  }
}

async function between(
  openSource: () => Promise<Source>,
  openTarget: (source: Source) => Promise<Target>,
  { tell = () => {}, beforeServed }: Partial<MoveHooks>,
): Promise<Moved> {
  const source = await openSource();
  try {
    const target = await openTarget(source);
    try {
      return await move(source, target, { tell, beforeServed });
    } finally {
      await target.stop();
    }
  } finally {
    await source.stop();
  }
}
