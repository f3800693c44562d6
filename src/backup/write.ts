import { chmod, link, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSystemError } from "../toolkit/system-error.ts";
import {
  type BackupHeader,
  type BackupSummary,
  byTime,
  DATA,
  freeBackupName,
  MANIFEST,
  PARTIAL,
  surplusOf,
  timeOfBackup,
} from "./backup.ts";
import { type Content, copyNew, createFolders, flush, hashFile, inParallel, writeAll } from "./files.ts";
import { createManifest, type ManifestWriter, readHeader } from "./manifest.ts";

/** A file that belongs to a backup. */
export interface PlannedFile {
  /** As in `BackupFile`. */
  readonly path: string;
  /** Where it is; undefined for a file in the service's bucket, which has the expected content. */
  readonly from: string | undefined;
  /** The content that it must have. If it has another one, or is missing, the backup continues without it. */
  readonly expected?: Content | undefined;
}

/** What a backup is made of. */
export interface BackupPlan {
  /** The path of the database below the data folder. */
  readonly database: string;
  /** Writes a copy of the database, which must exist before anything else is known. */
  copyDatabase(to: string): void;
  /** Describes that copy, and lists the other files. */
  describe(copy: string): Omit<BackupHeader, "madeAtMs">;
  files(copy: string): Iterable<PlannedFile>;
  /** The files among these missing ones that the database still names; the others were deleted after it was copied. */
  stillNamed(paths: readonly string[]): readonly string[];
}

/** A backup that was made. */
export interface MadeBackup extends BackupSummary {
  readonly name: string;
  readonly path: string;
  /** Bytes that were written; the rest is shared with the previous backup. */
  readonly copiedBytes: number;
}

/**
 * Makes a backup in a folder of its own below `directory`: `<time>/data/…`, laid out as a data folder, and `<time>/manifest.jsonl`.
 * Content that the newest backup there has is linked, so that each backup is whole by itself and costs what is new. An interrupted
 * backup leaves a folder whose name ends with `.part`; the next call removes it.
 *
 * Nobody else may write below `directory` meanwhile.
 *
 * @throws ForeignBackups when the newest backup there is of another data folder; the system's error, and then nothing is left behind
 */
export async function writeBackup(directory: string, atMs: number, plan: BackupPlan): Promise<MadeBackup> {
  await removePartial(directory);
  const before = (await listBackups(directory)).at(-1);
  const partial = join(directory, `${freeBackupName(atMs, await readdir(directory))}${PARTIAL}`);
  try {
    await mkdir(join(partial, DATA), { recursive: true, mode: 0o700 });
    const previous = before === undefined ? undefined : join(directory, before);
    const made = await fill(partial, previous, atMs, plan);
    const path = partial.slice(0, -PARTIAL.length);
    await rename(partial, path);
    await flush(directory);
    return { ...made, path, name: path.slice(dirname(path).length + 1) };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** The folder has backups of another data folder. Keeping only a number of backups would remove these. */
export class ForeignBackups extends Error {
  override readonly name = "ForeignBackups";
}

/** A file that lies in the bucket of the service. */
export function isObject(file: PlannedFile): file is PlannedFile & { readonly expected: Content } {
  return file.from === undefined && file.expected !== undefined;
}

/** Lists the files that are no longer where they were: deleted with their tasks, moved to the bucket meanwhile, or lost. */
export async function tellAbsent(
  absent: readonly PlannedFile[],
  {
    plan,
    manifest,
    header,
  }: { plan: BackupPlan; manifest: ManifestWriter; header: Pick<BackupHeader, "bucket"> },
): Promise<void> {
  const still = new Set(plan.stillNamed(absent.map(({ path }) => path)));
  for (const { path, expected } of absent) {
    if (!still.delete(path)) continue;
    if (header.bucket !== undefined && expected !== undefined) await manifest.object(expected);
    else await manifest.missing({ path, reason: "absent" });
  }
}

async function fill(partial: string, previous: string | undefined, madeAtMs: number, plan: BackupPlan) {
  const root = join(partial, DATA);
  const copy = join(root, plan.database);
  plan.copyDatabase(copy);
  await chmod(copy, 0o600);
  await flush(copy);
  const header = { ...plan.describe(copy), madeAtMs };
  if (previous !== undefined) await requireSameSource(previous, header);
  const handle = await open(join(partial, `${MANIFEST}${PARTIAL}`), "wx", 0o600);
  try {
    const manifest = createManifest((line) => writeAll(handle, Buffer.from(line)));
    await manifest.begin(header);
    const database = await hashFile(copy);
    await manifest.file({ path: plan.database, ...database });
    const folders = createFolders(root);
    const old = previous && join(previous, DATA);
    const absent: PlannedFile[] = [];
    let copiedBytes = database.sizeBytes;
    await inParallel(plan.files(copy), async (file) => {
      if (isObject(file)) return await manifest.object(file.expected);
      const to = join(root, file.path);
      await folders.forFile(to);
      const placed = await place(file, to, old, manifest);
      if (placed === "absent") absent.push(file);
      else copiedBytes += placed;
    });
    await tellAbsent(absent, { plan, manifest, header });
    await folders.flushAll();
    const counts = await manifest.end();
    await handle.sync();
    await rename(join(partial, `${MANIFEST}${PARTIAL}`), join(partial, MANIFEST));
    await flush(partial);
    return { ...header, ...counts, copiedBytes };
  } finally {
    await handle.close();
  }
}

/** Copies one file into a backup. @returns bytes that were written, or that a file which the database names is missing */
async function place(
  { path, from, expected }: PlannedFile,
  to: string,
  old: string | undefined,
  manifest: ManifestWriter,
): Promise<number | "absent"> {
  if (from === undefined) return "absent";
  if (expected !== undefined && old !== undefined) {
    const linked = await linkOld(join(old, path), to, expected);
    if (linked === "linked") await manifest.file({ path, ...expected });
    // Two tasks may have the same picture.
    if (linked !== "none") return 0;
  }
  try {
    const copied = await copyNew(from, to);
    if (expected === undefined || copied.sha256 === expected.sha256) {
      await manifest.file({ path, ...copied });
      return copied.sizeBytes;
    }
    await rm(to, { force: true });
    await manifest.missing({ path, reason: "damaged" });
    return 0;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "EEXIST" && expected !== undefined) return 0;
    if (error.code !== "ENOENT") throw error;
    // A file of the operator's may be removed at any time.
    return expected === undefined ? 0 : "absent";
  }
}

/** Codes of a file system that has no links, or no more of this one. */
const NO_LINK = new Set(["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "ENOENT", "EACCES"]);

async function linkOld(old: string, to: string, expected: Content) {
  try {
    const stats = await lstat(old);
    if (!stats.isFile() || stats.size !== expected.sizeBytes) return "none";
    await link(old, to);
    return "linked";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST") return "there";
    if (NO_LINK.has(code)) return "none";
    throw error;
  }
}

async function requireSameSource(previous: string, { source }: Pick<BackupHeader, "source">): Promise<void> {
  const before = await readHeader(join(previous, MANIFEST)).catch(() => undefined);
  if (before?.source === undefined || source === undefined || before.source === source) return;
  throw new ForeignBackups(
    `${dirname(previous)} has backups of another data folder. Give each data folder a folder of its own for its backups.`,
  );
}

/** Names of the finished backups in a folder, the oldest first. */
export async function listBackups(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => timeOfBackup(name) !== undefined);
  return names.sort(byTime);
}

/** Removes the remains of interrupted calls. */
async function removePartial(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const isOurs = name.endsWith(PARTIAL) && timeOfBackup(name.slice(0, -PARTIAL.length)) !== undefined;
    if (isOurs) await rm(join(directory, name), { recursive: true, force: true });
  }
}

/**
 * Removes the oldest backups of a folder except the given number. An interrupted removal leaves no backup that looks complete.
 *
 * @param made the backup that was just made, which stays
 * @returns names of those removed
 */
export async function removeOldBackups(directory: string, made: string, keep: number): Promise<string[]> {
  const names = await listBackups(directory);
  const old = surplusOf(
    names.filter((name) => name !== made),
    made,
    keep,
  );
  for (const name of old) {
    const path = join(directory, name);
    await rename(path, `${path}${PARTIAL}`);
    await rm(`${path}${PARTIAL}`, { recursive: true, force: true });
  }
  return old;
}
