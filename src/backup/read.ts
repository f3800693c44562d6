import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { reasonOf } from "../toolkit/system-error.ts";
import {
  type BackupFile,
  type BackupProblem,
  BackupRefused,
  type BackupSummary,
  DATA,
  MANIFEST,
  newestOf,
} from "./backup.ts";
import { copyNew, createFolders, hashFile, inParallel } from "./files.ts";
import { readManifest } from "./manifest.ts";
import { listBackups } from "./write.ts";

/** Most faults that a refusal lists. */
export const MOST_PROBLEMS = 20;

/** What a data folder may contain, by the first part of the path: the name of a file, or of a folder with a slash. */
export type AllowedPaths = ReadonlySet<string>;

/**
 * Finds the backup that a path names: the folder of one backup, or the newest in a folder of several.
 *
 * @throws BackupRefused if there is none, or it cannot be told which is the newest
 */
export async function findBackup(path: string, now: number): Promise<string> {
  const names = await readdir(path).catch((error: unknown) => {
    throw new BackupRefused(`${path} cannot be read: ${reasonOf(error)}.`);
  });
  if (names.includes(MANIFEST)) return path;
  const newest = newestOf(await listBackups(path), now, `${path}/`);
  if (newest === undefined)
    throw new BackupRefused(
      names.includes(DATA)
        ? `${path} is no whole backup: it has no ${MANIFEST}, which is written last.`
        : `There is no backup of svc in ${path}.`,
    );
  return join(path, newest);
}

/**
 * Reads a whole backup and compares every file with the manifest. Writes nothing.
 *
 * @throws BackupRefused with what is wrong, and where
 */
export async function checkBackup(path: string, allowed: AllowedPaths): Promise<BackupSummary> {
  const problems: BackupProblem[] = [];
  let count = 0;
  const tell = (file: string, problem: string) => {
    count += 1;
    if (problems.length < MOST_PROBLEMS) problems.push({ path: file, problem });
  };
  const check = createFileCheck(join(path, DATA), allowed, tell);
  // The manifest is read first and alone, because what a damaged one says about files means nothing.
  const summary = await readManifest(join(path, MANIFEST));
  await eachFile(path, check);
  if (count === 0) return summary;
  const what = count === 1 ? "a file is" : `${count} files are`;
  throw new BackupRefused(`The backup ${path} is damaged: ${what} not what the manifest says.`, problems);
}

/** Copies the files of a backup that was checked, and checks them on the way. */
export async function copyBackup(path: string, to: string): Promise<void> {
  const folders = createFolders(to);
  await eachFile(path, async (file) => {
    const target = join(to, file.path);
    await folders.forFile(target);
    const { sha256 } = await copyNew(join(path, DATA, file.path), target);
    if (sha256 === file.sha256) return;
    const problem = "was changed while the backup was read";
    throw new BackupRefused(`The backup ${path} is damaged: ${file.path} ${problem}.`, [
      { path: file.path, problem },
    ]);
  });
  await folders.flushAll();
}

/** Works on several files at once, without keeping their list. */
export async function eachFile(path: string, work: (file: BackupFile) => Promise<void>): Promise<void> {
  const waiting: BackupFile[] = [];
  await readManifest(join(path, MANIFEST), {
    async file(file) {
      waiting.push(file);
      if (waiting.length >= BATCH) await inParallel(waiting.splice(0), work);
    },
  });
  await inParallel(waiting, work);
}

const BATCH = 1_000;

function createFileCheck(root: string, allowed: AllowedPaths, tell: (path: string, problem: string) => void) {
  const realFolders = new Map<string, Promise<boolean>>();
  /** No folder on the way may be a link, because its target is not part of the backup. */
  const isReal = (folder: string): Promise<boolean> => {
    const known = realFolders.get(folder);
    if (known !== undefined) return known;
    const looking = Promise.all([realpath(folder), realpath(root)]).then(
      ([there, top]) => folder === root || there === top + folder.slice(root.length),
      () => true,
    );
    realFolders.set(folder, looking);
    return looking;
  };

  return async ({ path, sizeBytes, sha256 }: BackupFile): Promise<void> => {
    if (!isAllowed(path, allowed)) return tell(path, "is no file of a data folder");
    const place = join(root, path);
    if (!(await isReal(dirname(place)))) return tell(path, "lies behind a link");
    try {
      const stats = await lstat(place);
      if (stats.isSymbolicLink()) return tell(path, "is a link");
      if (!stats.isFile()) return tell(path, "is no file");
      if (stats.size !== sizeBytes) return tell(path, `has ${stats.size} bytes, and must have ${sizeBytes}`);
      const found = await hashFile(place);
      if (found.sha256 !== sha256) tell(path, "has other bytes than were backed up");
    } catch (error) {
      tell(path, `cannot be read: ${reasonOf(error)}`);
    }
  };
}

/** Whether a path stays below the data folder, and is one of those that a data folder has. */
export function isAllowed(path: string, allowed: AllowedPaths): boolean {
  const parts = path.split("/");
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\\\0]/.test(part));
  const [first = ""] = parts;
  return isPlain && allowed.has(parts.length === 1 ? first : `${first}/`);
}
