/** The file of a backup that is written last. Without it there is no backup. */
export const MANIFEST = "manifest.jsonl";
/** The folder of a backup that is laid out as a data folder. */
export const DATA = "data";
/** How the name of a backup's folder ends while it is being made or removed. */
export const PARTIAL = ".part";

/** One file of a backup. */
export interface BackupFile {
  /** Below the data folder, with slashes: `assets/sha256/ab/abcd…`. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Of its content, in hexadecimal. */
  readonly sha256: string;
  /** It is stored next to the backups of a bucket, for all backups that contain it. */
  readonly isShared?: boolean | undefined;
}

/** A file that the database names and that is in the bucket of the service's own files. The backup has no copy of it. */
export interface BackupObject {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The bucket of a service's own files. */
export interface BackupBucket {
  readonly endpoint: string;
  readonly region: string;
  readonly name: string;
  readonly prefix: string;
}

/** A file that the database names and the backup does not contain: it was missing, or had other bytes than its name says. */
export interface MissingFile {
  readonly path: string;
  readonly reason: "absent" | "damaged";
}

/** What a backup is of. */
export interface BackupHeader {
  /** The version of svc that made it. */
  readonly svc: string;
  /** How many migrations its database has, and the name of the latest. */
  readonly migrations: number;
  readonly latestMigration: string;
  readonly madeAtMs: number;
  /** Identifies its data folder by the id of the first account. Absent if there is none yet. */
  readonly source?: string | undefined;
  /** Files that the operator left out. */
  readonly leftOut: readonly string[];
  /** Where the files are that are stored as objects. Absent if all are in the folder. */
  readonly bucket?: BackupBucket | undefined;
}

/** A backup as a whole. */
export interface BackupSummary extends BackupHeader {
  readonly files: number;
  readonly sizeBytes: number;
  /** Files in the bucket of the service, which belong to the backup and are not in it. */
  readonly objects: number;
  readonly missing: readonly MissingFile[];
}

/** What is wrong with a file of a backup, as a clause that begins with its path. */
export interface BackupProblem {
  readonly path: string;
  readonly problem: string;
}

/** The data is no backup of this program, or a damaged one. Nothing was written. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
  constructor(
    message: string,
    readonly problems: readonly BackupProblem[] = [],
  ) {
    super(message);
  }
}

/** `2026-11-23T20-30-15Z`: names order backups by time. @param ordinal from 1; appended from the second backup within one second on */
export function backupName(atMs: number, ordinal: number): string {
  const name = `${new Date(atMs).toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
  return ordinal === 1 ? name : `${name}-${ordinal}`;
}

/** The name of a new backup: behind those of the same second, of which the first ones may be gone. @param taken names in the place */
export function freeBackupName(atMs: number, taken: Iterable<string>): string {
  const first = backupName(atMs, 1);
  let ordinal = 1;
  for (const name of taken) {
    const [, number = "1"] = /^-(\d+)$/.exec(name.slice(first.length)) ?? [];
    const isOfSecond = name === first || (name.startsWith(`${first}-`) && timeOfBackup(name) !== undefined);
    if (isOfSecond) ordinal = Math.max(ordinal, Number(number) + 1);
  }
  return backupName(atMs, ordinal);
}

const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z(?:-\d+)?$/;

/** Orders names of backups by time, the oldest first. */
export function byTime(one: string, other: string): number {
  const ageMs = (timeOfBackup(one) ?? 0) - (timeOfBackup(other) ?? 0);
  return ageMs || one.length - other.length || (one < other ? -1 : 1);
}

/**
 * Chooses which backups go so that `keep` stay, with the one that was just made. One of a later date was made while the clock was ahead:
 * it is older than its name says, and goes first.
 *
 * @param others names, the oldest first
 */
export function surplusOf(others: readonly string[], made: string, keep: number): string[] {
  const isAhead = (name: string) => byTime(name, made) > 0;
  const oldest = [...others.filter(isAhead), ...others.filter((name) => !isAhead(name))];
  return oldest.slice(0, Math.max(0, oldest.length + 1 - keep));
}

/** Clocks of two machines may differ by this much. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * The newest of some backups.
 *
 * @param names the oldest first
 * @param where for people: the names follow it
 * @throws BackupRefused where the latest date is yet to come and there are others: either that backup was made while a clock was ahead, or the
 *   clock here is behind
 */
export function newestOf(names: readonly string[], now: number, where: string): string | undefined {
  const latest = names.at(-1);
  const isAhead = latest !== undefined && (timeOfBackup(latest) ?? 0) > now + CLOCKS_DIFFER_MS;
  if (!isAhead || names.length === 1) return latest;
  throw new BackupRefused(
    `It cannot be told which backup is the newest: the date of ${where}${latest} is yet to come. Give the path of the one that is meant.`,
  );
}

/** When the backup with this name was begun, in epoch milliseconds; undefined if the name is not one of a backup. */
export function timeOfBackup(name: string): number | undefined {
  const [, day, hour, minute, second] = NAME.exec(name) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}
