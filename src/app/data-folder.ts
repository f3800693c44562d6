import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Clock, Seal } from "../domain/ports/runtime.ts";
import { PROVIDERS, USED_FORMS } from "../providers/registry.ts";
import { lockDirectory, lockHolder } from "../runtime/directory-lock.ts";
import { makeFolderForGood } from "../runtime/flush-folder.ts";
import { FOLDER_ID } from "../runtime/folder-id.ts";
import { type FolderContents, makePrivate } from "../runtime/private-folder.ts";
import { createSeal } from "../runtime/seal.ts";
import { ASSETS, DATABASE, LOGS, MOVED_AWAY, RESTORING, SECRET_KEY, SERVING } from "./folder-contents.ts";
import { ALERT_MEMORY, CHECKED_FORMS, KEPT_KEYS } from "./settings.ts";

export type Folder = Pick<Config, "dataDir">;

/** The path of the database in a data folder. */
export const databaseOf = ({ dataDir }: Folder): string => join(dataDir, DATABASE);
/** The path of the stored files, which are in the data folder unless the operator has them elsewhere. */
export const assetsOf = ({
  dataDir,
  assets,
}: Folder & { readonly assets?: { readonly path: string } | undefined }): string =>
  assets?.path ?? join(dataDir, ASSETS);

/** The folder in which the latest lines of the log are kept. */
export const logsOf = ({ dataDir }: Folder): string => join(dataDir, LOGS);

/** Another process has the data folder for itself. */
export class DataDirectoryBusy extends Error {
  override readonly name = "DataDirectoryBusy";
}

export type SecretKeys = Folder & Partial<Pick<Config, "secretKey" | "previousSecretKey">>;

/** The source of the key that seals the secrets of a data folder. */
export function sealOf({ dataDir, secretKey, previousSecretKey }: SecretKeys): Seal {
  return createSeal({
    key: secretKey?.reveal(),
    previousKey: previousSecretKey?.reveal(),
    file: join(dataDir, SECRET_KEY),
  });
}

/** The contents of a data folder that other users must not read. Providers keep theirs in a folder with their name. */
export const CONTENTS: FolderContents = {
  files: [
    ...["", "-wal", "-shm", "-journal"].map((suffix) => `svc.db${suffix}`),
    ...[
      "server.lock",
      "server.lock-journal",
      "bootstrap.json",
      "bootstrap.json.part",
      "bucket.json",
      FOLDER_ID,
      SECRET_KEY,
      CHECKED_FORMS,
      ALERT_MEMORY,
      MOVED_AWAY,
      SERVING,
    ],
  ],
  folders: [ASSETS, LOGS, KEPT_KEYS, USED_FORMS, ...PROVIDERS.map(({ id }) => id)],
};

/**
 * Creates the data folder, or closes it to other users.
 *
 * @returns whether it was missing, and what was open to others
 * @throws FolderExposed when it cannot be closed
 */
export function ensureDirectory(directory: string): { isNew: boolean; closed: readonly string[] } {
  const isNew = !existsSync(directory);
  if (isNew) makeFolderForGood(directory);
  const closed = makePrivate(directory, CONTENTS);
  return { isNew, closed: isNew ? [] : closed };
}

/** @throws Error if there is no database, or the settings name another one */
export function existingDatabaseOf(config: Used): string {
  if (config.database !== undefined)
    throw new Error(
      "The settings name a PostgreSQL database, and this is for a data folder alone. A PostgreSQL server has its own means: pg_dump, pg_basebackup, vacuum.",
    );
  requireHere(config);
  const database = databaseOf(config);
  if (existsSync(database)) return database;
  throw new Error(
    `There is no svc data in ${config.dataDir}. Choose another --data-dir, or start \`svc serve\` there first.`,
  );
}

/** The restore of a backup into the folder was not finished. */
export class RestoreUnfinished extends Error {
  override readonly name = "RestoreUnfinished";
}

/** The database of the folder is elsewhere now. */
export class FolderMoved extends Error {
  override readonly name = "FolderMoved";
}

/** A folder to work on. */
interface Used extends Folder, Partial<Pick<Config, "database">> {
  /** The folder contains only what a node of a shared database needs; so does a folder with `database`. */
  readonly isOfNode?: boolean;
  /** Where its database is being moved: a move there that was cut off may go on. */
  readonly movingTo?: string | undefined;
}

/** Says where the database of a folder is. */
interface MovedMark {
  readonly to: string;
  /** All rows have arrived, and the database there may not be served yet. */
  readonly isUnfinished: boolean;
}

/** Undefined if the database is in the folder. */
export function movedMark(dataDir: string): MovedMark | undefined {
  const path = join(dataDir, MOVED_AWAY);
  if (!existsSync(path)) return undefined;
  const mark: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (typeof mark !== "object" || mark === null || !("to" in mark))
    return { to: "another place", isUnfinished: false };
  return { to: String(mark.to), isUnfinished: "unfinished" in mark && mark.unfinished === true };
}

/** @throws FolderMoved */
function requireHere({ dataDir, database, isOfNode = database !== undefined, movingTo }: Used): void {
  const mark = isOfNode ? undefined : movedMark(dataDir);
  if (mark === undefined) return;
  const { to, isUnfinished } = mark;
  if (isUnfinished && movingTo === to) return;
  const what = isUnfinished
    ? `A move of the database of ${dataDir} to ${to} was cut off at its end. Repeat it: svc db move --to URL --data-dir ${dataDir}.`
    : `The database of ${dataDir} was moved to ${to}. Name it with --database, or move it back: svc db move --database URL --to ${dataDir}.`;
  throw new FolderMoved(what);
}

/**
 * @returns a function that releases the lock @throws DataDirectoryBusy when another process holds it; RestoreUnfinished, FolderMoved
 */
export function lockDataDirectory(folder: Used): () => void {
  const { dataDir } = folder;
  const lock = lockDirectory(dataDir);
  if (lock === undefined) throw busy(dataDir);
  try {
    // Now that no restore and no move can be under way.
    requireHere(folder);
    requireRestored(dataDir);
  } catch (error) {
    lock.release();
    throw error;
  }
  return () => lock.release();
}

function busy(dataDir: string): DataDirectoryBusy {
  const { pid } = lockHolder(dataDir);
  const process = pid === undefined ? "" : ` (pid ${pid})`;
  return new DataDirectoryBusy(
    `Another svc works on ${dataDir}${process}: a server, or a command that needs it for itself, such as svc migrate. Stop the server, or wait for the command; or choose another --data-dir.`,
  );
}

/** @throws RestoreUnfinished */
function requireRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new RestoreUnfinished(
    `A restore into ${dataDir} was cut off. Repeat \`svc db restore\`, which begins anew; or remove the folder.`,
  );
}

const LOCK_PATIENCE_MS = 1_000;
const LOCK_AGAIN_MS = 50;

/**
 * Locks the folder for a server, which may start while the one before it still ends: a process that was killed holds its lock until
 * its last write to the disk is over.
 *
 * @returns like `lockDataDirectory`
 */
export async function lockForServer(folder: Used, { after }: Pick<Clock, "after">): Promise<() => void> {
  for (let waitedMs = 0; ; waitedMs += LOCK_AGAIN_MS) {
    try {
      return lockDataDirectory(folder);
    } catch (error) {
      if (!(error instanceof DataDirectoryBusy) || waitedMs >= LOCK_PATIENCE_MS) throw error;
    }
    await new Promise<void>((resolve) => void after(LOCK_AGAIN_MS, resolve));
  }
}
