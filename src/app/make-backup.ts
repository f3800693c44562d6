import { existsSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { placeOf } from "../assets/content-folders.ts";
import { type BackupBucket, type BackupSummary, MANIFEST } from "../backup/backup.ts";
import { type ShelvedBackup, writeToShelf } from "../backup/shelf-write.ts";
import { writeArchive } from "../backup/stream.ts";
import { type BackupPlan, type MadeBackup, removeOldBackups, writeBackup } from "../backup/write.ts";
import { lockDirectory } from "../runtime/directory-lock.ts";
import { contentsOf, copyDatabase, describeDatabase, namedOf } from "../store/copy.ts";
import { VERSION } from "../version.ts";
import { type BucketPlace, openOwnShelf } from "./backup-places.ts";
import { assetsOf, existingDatabaseOf, type Folder } from "./data-folder.ts";
import { ASSETS, DATABASE, ownFilesOf, SECRET_KEY } from "./folder-contents.ts";

export interface BackupOrder extends Folder {
  /** Where files are; the data folder unless given. For files in a bucket, a backup contains only their list. */
  readonly assets?: { readonly path: string; readonly bucket?: BackupBucket | undefined } | undefined;
  readonly atMs: number;
  /** Leaves out `secret.key`, so that the backup alone opens no sealed secret. */
  readonly isWithoutKey: boolean;
}

/** Whether a data folder is that of a backup, whose checksums hold as long as nothing is written there. */
export function isOfBackup({ dataDir }: Pick<Folder, "dataDir">): boolean {
  return existsSync(join(dataDir, "..", MANIFEST));
}

/** Another process is making a backup in the same place. */
class BackupBusy extends Error {
  override readonly name = "BackupBusy";
}

/**
 * Makes a backup of a data folder in a folder of backups. A server may run on it.
 *
 * @param keep how many backups stay there, this one included; the oldest are removed. All stay unless given
 * @throws Error where there is no database, or the two folders are one; BackupBusy; ForeignBackups; SchemaError; StorageError; what
 *   the system says
 */
export async function makeBackup(
  order: BackupOrder & { readonly to: string; readonly keep?: number | undefined },
): Promise<MadeBackup & { readonly removed: readonly string[] }> {
  const { to, keep, atMs } = order;
  const plan = planOf(order);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (realpathSync(to) === realpathSync(order.dataDir))
    throw new Error(`${to} is the data folder itself. Give another folder for its backups.`);
  return await locked(to, async () => {
    const made = await writeBackup(to, atMs, plan);
    const removed = keep === undefined ? [] : await removeOldBackups(to, made.name, keep);
    return { ...made, removed };
  });
}

/** Where the copy of the database lies while an archive is written, or a backup is sent to a bucket. */
export const BACKUP_WORKSPACE = "backup.part";

/**
 * Makes a backup of a data folder in a bucket. A server may run on it.
 *
 * @param isClaimed takes the place from the data folder that has it
 * @throws Error where there is no database; BackupBusy; BucketTaken; ForeignBackups; SchemaError; StorageError; what the bucket or the
 *   system says
 */
export async function makeBackupInBucket(
  order: BackupOrder & {
    readonly place: BucketPlace;
    readonly keep?: number | undefined;
    readonly isClaimed?: boolean;
  },
): Promise<ShelvedBackup> {
  const { place, keep, atMs, dataDir } = order;
  const plan = planOf(order);
  return await inWorkspace(dataDir, async (workspace) => {
    const { shelf, ownership } = await openOwnShelf(place, { dataDir });
    if (order.isClaimed === true) await ownership.take();
    return await writeToShelf(shelf, { workspace, atMs, plan, keep });
  });
}

/**
 * Writes a backup of a data folder as one tar archive.
 *
 * @throws like `makeBackup`; the archive is then incomplete
 */
export async function streamBackup(
  order: BackupOrder,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<BackupSummary> {
  const plan = planOf(order);
  return await inWorkspace(order.dataDir, (folder) => writeArchive(folder, order.atMs, plan, write));
}

/** Works with an empty folder in a data folder, one process at a time. */
async function inWorkspace<T>(dataDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  const workspace = join(dataDir, BACKUP_WORKSPACE);
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  return await locked(workspace, async () => {
    const folder = join(workspace, "copy");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    const remove = () => rmSync(workspace, { recursive: true, force: true });
    // A command whose archive nobody reads any more ends at once.
    process.on("exit", remove);
    try {
      return await work(folder);
    } finally {
      process.off("exit", remove);
      remove();
    }
  });
}

async function locked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = lockDirectory(folder, join(folder, "backup.lock"));
  if (lock === undefined)
    throw new BackupBusy(
      `Another process makes a backup in ${folder}. Repeat the command when it has ended.`,
    );
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function planOf({ isWithoutKey, ...config }: BackupOrder): BackupPlan {
  const live = { path: existingDatabaseOf(config) };
  const leftOut = isWithoutKey ? [SECRET_KEY] : [];
  const bucket = config.assets?.bucket;
  return {
    database: DATABASE,
    copyDatabase: (to) => copyDatabase(live, to),
    describe: (copy) => ({ ...describeDatabase(copy), svc: VERSION, leftOut, bucket }),
    *files(copy) {
      yield* ownFilesOf(config.dataDir, leftOut);
      const assets = assetsOf(config);
      for (const content of contentsOf(copy)) {
        const from = placeOf(assets, content.sha256);
        const path = [ASSETS, ...relative(assets, from).split(sep)].join("/");
        const isObject = bucket !== undefined && !existsSync(from);
        yield { path, from: isObject ? undefined : from, expected: content };
      }
    },
    stillNamed(paths) {
      const nameIn = (path: string) => path.slice(path.lastIndexOf("/") + 1);
      const named = new Set(namedOf(live, paths.map(nameIn)));
      return paths.filter((path) => named.has(nameIn(path)));
    },
  };
}
