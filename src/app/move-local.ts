import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Moved as MovedFiles } from "../assets/moving.ts";
import type { Config } from "../config/config.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { flushFolder } from "../runtime/flush-folder.ts";
import { emptyLog } from "../store/checkpoint.ts";
import type { Moved, TellMove } from "../store/move/open.ts";
import {
  assetsOf,
  databaseOf,
  ensureDirectory,
  existingDatabaseOf,
  lockDataDirectory,
  movedMark,
} from "./data-folder.ts";
import { ownerOf } from "./files-owner.ts";
import { MOVED_AWAY } from "./folder-contents.ts";
import { type FileMoveOptions, handOverFolder, moveFiles, type Owners } from "./move-files.ts";
import { sharedOwnerOf } from "./shared-database.ts";

export type { Moved, MoveProgress } from "../store/move/open.ts";

/** What became of a move. */
export interface MovedAll extends Moved {
  /** Absent if the files stay where they are. */
  readonly files: MovedFiles | undefined;
}

/** How a move is made. */
export interface HowMoved {
  readonly tell: TellMove;
  /** Which files go where; absent where they stay. */
  readonly files?: FileMoveOptions | undefined;
  /** The folder of files, which the new place has if they stay. */
  readonly path: string;
}

/**
 * Copies the database of a data folder into a PostgreSQL database, and says in the folder where it is now: it is not served again.
 * After an interruption, another call continues. Files are copied before the database may be served; the folder's other contents
 * stay.
 *
 * @param to URL
 * @throws MoveError, SchemaError, StorageError; CannotMove, BucketTaken, S3Error; DataDirectoryBusy while a server runs on the folder
 */
export async function moveToShared(
  config: Config,
  to: string,
  { tell, ...files }: HowMoved,
): Promise<MovedAll> {
  const { host, pathname } = new URL(to);
  const moving = { ...config, movingTo: `${host}${pathname}` };
  const from = existingDatabaseOf(moving);
  const release = lockDataDirectory(moving);
  try {
    const { moveToPostgres } = await import("../store/move/open.ts");
    const owners = async () => ({
      before: ownerOf(config),
      after: await sharedOwnerOf(to, { isUnfinished: true }),
    });
    // Also where the files go elsewhere: a node may have this data folder.
    const carrying = filesMoving(files, owners, files.path);
    const leave = async () => noteMoved(moving, "unfinished");
    const moved = await moveToPostgres({ from, to, tell, beforeServed: carrying.run, leave });
    noteMoved(moving, "finished");
    return { ...moved, files: carrying.moved() };
  } finally {
    release();
  }
}

/**
 * Copies a PostgreSQL database into a data folder, which is served from then on. What lies there from before a move is kept beside it.
 *
 * @throws as `moveToShared`; MoveError `in_use` while a node serves the database
 */
export async function moveToFolder(
  from: string,
  folder: string,
  { tell, ...files }: HowMoved,
): Promise<MovedAll> {
  const dataDir = resolve(folder);
  ensureDirectory(dataDir);
  const database = databaseOf({ dataDir });
  // As for a node of the database: the folder is one of those, or was one.
  const release = lockDataDirectory({ dataDir, isOfNode: true });
  try {
    if (movedMark(dataDir)?.isUnfinished === false && existsSync(database)) setAside(database);
    const { moveToSqlite } = await import("../store/move/open.ts");
    const owners = async () => ({
      before: await sharedOwnerOf(from, { isUnfinished: false }),
      after: ownerOf({ dataDir }),
    });
    const moving = filesMoving(files, owners, assetsOf({ dataDir }));
    const moved = await moveToSqlite({ from, to: database, tell, beforeServed: moving.run });
    rmSync(join(dataDir, MOVED_AWAY), { force: true });
    flushFolder(dataDir);
    return { ...moved, files: moving.moved() };
  } finally {
    release();
  }
}

/**
 * Makes room for the database that comes. The log that a killed server left has to go into its own database first: under its name, it
 * would be taken for the new one's, and its pages with it.
 */
function setAside(database: string): void {
  emptyLog({ path: database });
  renameSync(database, `${database}.before-the-move`);
}

/** The part of a move that concerns files. @param own a folder that the new place has, if the old one has it, wherever the files go */
function filesMoving({ files, path }: Omit<HowMoved, "tell">, owners: () => Promise<Owners>, own: string) {
  let moved: MovedFiles | undefined;
  return {
    run: async () => {
      const known = await owners();
      if (files === undefined) await handOverFolder(path, known);
      else moved = await moveFiles(files, known);
      await handOverFolder(own, known);
    },
    moved: () => moved,
  };
}

/** Says in a folder where its database is, whole or not at all. It is not served from then on. */
function noteMoved(
  { dataDir, movingTo: to }: { readonly dataDir: string; readonly movingTo: string },
  state: "unfinished" | "finished",
): void {
  const at = new Date(createSystemClock().now()).toISOString();
  const mark = { to, at, ...(state === "unfinished" && { unfinished: true }) };
  const path = join(dataDir, MOVED_AWAY);
  writeFileSync(`${path}.part`, `${JSON.stringify(mark)}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.part`, path);
  flushFolder(dataDir);
}
