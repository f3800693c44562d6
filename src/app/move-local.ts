import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { flushFolder } from "../runtime/flush-folder.ts";
import type { Moved, TellMove } from "../store/move/open.ts";
import { databaseOf, ensureDirectory, existingDatabaseOf, lockDataDirectory } from "./data-folder.ts";
import { MOVED_AWAY } from "./folder-contents.ts";

export type { Moved, MoveProgress } from "../store/move/open.ts";

/**
 * Copies the database of a data folder into a PostgreSQL database, and says in the folder where it is now: it is not served again. What
 * was cut off goes on when it is called again. The folder's other contents stay.
 *
 * @param to URL
 * @throws MoveError, SchemaError, StorageError; DataDirectoryBusy while a server runs on the folder
 */
export async function moveToShared(config: Config, to: string, tell: TellMove): Promise<Moved> {
  const from = existingDatabaseOf(config);
  const release = lockDataDirectory(config);
  try {
    const { moveToPostgres } = await import("../store/move/open.ts");
    const moved = await moveToPostgres({ from, to, tell });
    noteMoved(config.dataDir, to);
    return moved;
  } finally {
    release();
  }
}

/**
 * Copies a PostgreSQL database into a data folder, which is served from then on. What lies there from before a move is kept beside it.
 *
 * @throws as `moveToShared`; MoveError `in_use` while a node serves the database
 */
export async function moveToFolder(from: string, folder: string, tell: TellMove): Promise<Moved> {
  const dataDir = resolve(folder);
  ensureDirectory(dataDir);
  const database = databaseOf({ dataDir });
  // As for a node of the database: the folder is one of those, or was one.
  const release = lockDataDirectory({ dataDir, isOfNode: true });
  try {
    const isLeft = existsSync(join(dataDir, MOVED_AWAY)) && existsSync(database);
    if (isLeft) renameSync(database, `${database}.before-the-move`);
    const { moveToSqlite } = await import("../store/move/open.ts");
    const moved = await moveToSqlite({ from, to: database, tell });
    rmSync(join(dataDir, MOVED_AWAY), { force: true });
    flushFolder(dataDir);
    return moved;
  } finally {
    release();
  }
}

function noteMoved(dataDir: string, to: string): void {
  const { host, pathname } = new URL(to);
  const mark = { to: `${host}${pathname}`, at: new Date(createSystemClock().now()).toISOString() };
  writeFileSync(join(dataDir, MOVED_AWAY), `${JSON.stringify(mark)}\n`, { mode: 0o600, flush: true });
  flushFolder(dataDir);
}
