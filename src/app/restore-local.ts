import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BackupRefused, type BackupSummary, DATA } from "../backup/backup.ts";
import { checkBackup, copyBackup, findBackup } from "../backup/read.ts";
import { BACKUPS } from "../backup/shelf.ts";
import { fetchFromShelf, findOnShelf } from "../backup/shelf-read.ts";
import { extractArchive } from "../backup/stream.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { lockDirectory, lockFileOf } from "../runtime/directory-lock.ts";
import { flushFolder } from "../runtime/flush-folder.ts";
import { createIds } from "../runtime/ids.ts";
import { describeDatabase } from "../store/copy.ts";
import { openRestored } from "../store/restored.ts";
import { type FoundObjects, lookForObjects, type ObjectPlaces } from "./backup-objects.ts";
import { type BackupInBucket, openShelfToRead } from "./backup-places.ts";
import { DataDirectoryBusy, ensureDirectory, type Folder } from "./data-folder.ts";
import { endUnsent } from "./end-unsent.ts";
import { ASSETS, BACKED_UP, DATABASE, RESTORING } from "./folder-contents.ts";
import { localActor } from "./local-actor.ts";

/** Where a backup comes from: a folder, a bucket, or a tar archive. */
export type BackupSource = string | BackupInBucket | AsyncIterable<Uint8Array>;

/** The target folder of the restore is not empty. */
class FolderNotEmpty extends Error {
  override readonly name = "FolderNotEmpty";
}

/** A backup that was read to its end. */
export interface CheckedBackup extends BackupSummary {
  /** Where it is, for people. */
  readonly path: string;
  /** What became of its files in the bucket of the service; absent where it names none. */
  readonly found?: FoundObjects | undefined;
}

/**
 * Reads a whole backup and compares every file with its manifest, and looks for its files in the bucket of the service. Writes nothing
 * but copies that are removed at the end.
 *
 * @throws BackupRefused; SchemaError for one of a later version
 */
export async function checkBackupAt(
  from: string | BackupInBucket,
  places: ObjectPlaces,
): Promise<CheckedBackup> {
  if (typeof from !== "string") {
    const folder = mkdtempSync(join(tmpdir(), "svc-check-"));
    try {
      const read = await fetchBackup(from, folder, false);
      return { ...read, found: await lookForObjects(folder, read, places) };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const path = await findBackup(from, createSystemClock().now());
  const summary = await checkBackup(path, BACKED_UP).catch((error: unknown) => {
    throw advised(error, path);
  });
  requireDatabase(path, summary);
  return { ...summary, path, found: await lookForObjects(path, summary, places) };
}

/** Says what to do about damaged files of tasks, which other backups in the folder may share. */
function advised(error: unknown, path: string): unknown {
  if (!(error instanceof BackupRefused) || error.problems.length === 0) return error;
  if (!error.problems.every((each) => each.path.startsWith(`${ASSETS}/`))) return error;
  const advice = `Later backups share such files, and each is copied anew by the next one once it is deleted from the newest. To restore without them: svc db backup NEW --data-dir ${join(path, DATA)}, then svc db restore NEW.`;
  return new BackupRefused(`${error.message} ${advice}`, error.problems);
}

/** Reads a backup of a bucket into a folder. With `keepsAll` off, keeps only what shows whether it is complete. */
async function fetchBackup({ place, backup }: BackupInBucket, to: string, keepsAll: boolean) {
  const shelf = await openShelfToRead(place);
  const shelved = await findOnShelf(shelf, createSystemClock().now(), backup);
  const options = { allowed: BACKED_UP, keepsAll, database: DATABASE };
  const summary = await fetchFromShelf(shelf, shelved, to, options);
  requireDatabase(to, summary);
  return { ...summary, path: `${shelf.where}${BACKUPS}${shelved.name}` };
}

export interface RestoreOrder extends Folder {
  readonly from: BackupSource;
  /** The next server sends tasks that were not sent to a provider yet, instead of ending them. */
  readonly submitsAgain: boolean;
  /** Where the bucket of the service is looked for. */
  readonly places: ObjectPlaces;
}

/** What a restore came to. */
export interface Restored extends BackupSummary {
  /** Tasks that were ended because no upstream is known to have them. */
  readonly ended: number;
  /** Live tasks: those that upstreams have, and with `submitsAgain` those that are to be sent. */
  readonly live: number;
  readonly found?: FoundObjects | undefined;
}

/**
 * Makes a data folder from a backup. Everything is checked first. An interrupted restore leaves no usable data folder, and the next
 * call starts again.
 *
 * @throws FolderNotEmpty; DataDirectoryBusy; BackupRefused; SchemaError; then the folder is as it was
 */
export async function restoreLocal(order: RestoreOrder): Promise<Restored> {
  const { dataDir, from, places } = order;
  requireEmpty(dataDir);
  const checked = typeof from === "string" ? await checkBackupAt(from, places) : undefined;
  const above = mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDirectory(dataDir);
  if (lock === undefined)
    throw new DataDirectoryBusy(`Another svc uses ${dataDir}. Choose another --data-dir.`);
  const staging = join(dataDir, RESTORING);
  let isDone = false;
  try {
    requireEmpty(dataDir);
    clear(dataDir);
    mkdirSync(join(staging, DATA), { recursive: true, mode: 0o700 });
    flushFolder(dataDir);
    const summary = checked ?? (await bring(staging, from));
    if (checked !== undefined) await copyBackup(checked.path, join(staging, DATA));
    const found = checked?.found ?? (await lookForObjects(staging, summary, places));
    const counts = await settle(join(staging, DATA, DATABASE), order, summary);
    moveInto(dataDir, join(staging, DATA));
    ensureDirectory(dataDir);
    isDone = true;
    return { ...summary, ...counts, found };
  } finally {
    if (!isDone) clear(dataDir);
    lock.release();
    if (!isDone) remove(dataDir, above !== undefined);
  }
}

/** Brings a backup from elsewhere into a folder, whole and found right. */
async function bring(staging: string, from: BackupSource): Promise<BackupSummary> {
  if (typeof from === "string") throw new Error("A path is not extracted.");
  if ("place" in from) return await fetchBackup(from, staging, true);
  const files = await extractArchive(from, staging, BACKED_UP);
  const summary = await checkBackup(staging, BACKED_UP);
  if (files !== summary.files)
    throw new BackupRefused("The archive cannot be used: it has files that its manifest does not name.");
  requireDatabase(staging, summary);
  return summary;
}

/** The database has to be one that this program can open. @throws SchemaError */
function requireDatabase(path: string, { migrations }: BackupSummary): void {
  const database = join(path, DATA, DATABASE);
  if (!existsSync(database)) throw new BackupRefused(`The backup ${path} has no ${DATABASE}.`);
  const found = describeDatabase(database);
  if (found.migrations === migrations) return;
  const problem = `has ${found.migrations} migrations, and the manifest says ${migrations}`;
  throw new BackupRefused(`The backup ${path} is damaged: ${DATABASE} ${problem}.`, [
    { path: DATABASE, problem },
  ]);
}

/** Ends the tasks that must not be submitted again, and records the restore in the trail. */
async function settle(path: string, { submitsAgain }: RestoreOrder, { madeAtMs }: BackupSummary) {
  const clock = createSystemClock();
  const ids = createIds(clock);
  const store = openRestored({ path, ids });
  try {
    const ended = submitsAgain ? 0 : await endUnsent(store, { ids, now: clock.now() });
    const { queued, underWay } = await store.tasks.counts();
    const after = { made_at: new Date(madeAtMs).toISOString(), ended_tasks: ended };
    await store.trail.note(
      { actor: localActor(), at: clock.now() },
      { action: "backup.restore", object: { kind: "server", id: "backup" }, after },
    );
    return { ended, live: queued + underWay };
  } finally {
    await store.stop();
  }
}

/** Names that an empty folder may have: a lock, and what file systems put there. */
const NOTHING = new Set(["server.lock", "server.lock-journal", "lost+found"]);

function requireEmpty(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const names = readdirSync(dataDir);
  if (names.includes(RESTORING) || names.every((name) => NOTHING.has(name))) return;
  throw new FolderNotEmpty(
    `${dataDir} is not empty. Give a new folder; nothing that is there is ever replaced.`,
  );
}

/** Moves everything to its place, the database last. As long as the folder of the restore exists, no server starts. */
function moveInto(dataDir: string, from: string): void {
  const names = readdirSync(from).filter((name) => name !== DATABASE);
  for (const name of [...names, DATABASE]) renameSync(join(from, name), join(dataDir, name));
  flushFolder(dataDir);
  rmSync(join(dataDir, RESTORING), { recursive: true });
  flushFolder(dataDir);
}

/** Removes what an unfinished restore has left. Everything in its folder comes from it. */
function clear(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  for (const name of BACKED_UP) rmSync(join(dataDir, name), { recursive: true, force: true });
  rmSync(join(dataDir, RESTORING), { recursive: true, force: true });
}

/** Restores a folder that did not exist or was empty to that state. */
function remove(dataDir: string, isNew: boolean): void {
  for (const file of [lockFileOf(dataDir), `${lockFileOf(dataDir)}-journal`]) rmSync(file, { force: true });
  if (isNew) rmdirSync(dataDir);
}
