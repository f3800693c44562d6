import { existsSync, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type DiskMarks, markBytes } from "../../domain/disk-marks.ts";
import { sizeText } from "../../domain/reclaimable.ts";
import { lockHolder } from "../../runtime/directory-lock.ts";
import { type FileSystem, fileSystemOf } from "../../runtime/mounts.ts";
import { CONTENTS } from "../data-folder.ts";
import { KEPT_KEYS } from "../settings.ts";
import { remountFix, writeFault } from "./environment.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

/** The contents of a data folder that hold secrets. */
const SECRET_FILES = ["svc.db", "svc.db-wal", "secret.key", "bootstrap.json"];
const OTHERS = 0o077;

export interface FolderLook {
  readonly findings: readonly Finding[];
  /** Whether it is there and can be looked into. */
  readonly isThere: boolean;
  readonly server: ReturnType<typeof lockHolder>;
}

/** How much space is wanted, and what would free some. */
export interface SpaceWish {
  readonly marks: DiskMarks;
  /** What would free space, a line each; undefined where nobody counted. */
  readonly advice?: readonly string[] | undefined;
}

const USUAL: SpaceWish = { marks: { warn: "auto", refuse: "auto" } };

/** Examines a data folder. Creates and changes nothing. */
export function lookAtFolder(dataDir: string, wish: SpaceWish = USUAL): FolderLook {
  const none = { isThere: false, server: { isHeld: false } };
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  const shown = quoted(dataDir);
  if (stats === undefined) return { ...none, findings: absentFolder(dataDir, wish) };
  if (!stats.isDirectory()) {
    const text = `${dataDir} is a file, and must be a folder: no server can start on it.`;
    return { ...none, findings: [error("data_dir", text, `mv ${shown} ${quoted(`${dataDir}.old`)}`)] };
  }
  const fault = unusable(dataDir, stats);
  if (fault !== undefined) {
    if (!isReadable(dataDir)) return { ...none, findings: [fault] };
    return { isThere: true, server: lockHolder(dataDir), findings: [fault] };
  }
  const server = lockHolder(dataDir);
  return {
    isThere: true,
    server,
    findings: [
      ok("data_dir", `${dataDir} can be written to.`),
      ...ownerChecks(dataDir, stats),
      ...privacyChecks(dataDir, stats),
      ...spaceChecks(dataDir, fileSystemOf(dataDir), wish),
      ...reclaimCheck(wish),
      serverCheck(server),
      ...firstKeyCheck(dataDir),
    ],
  };
}

/** Why a folder cannot be a server's. */
function unusable(dataDir: string, stats: Stats): Finding | undefined {
  const shown = quoted(dataDir);
  const fault = writeFault(dataDir);
  if (fault === "read_only") return readOnly(`${dataDir} cannot be used`, dataDir);
  const owner = ownerFault(dataDir, stats);
  if (owner === undefined && fault === undefined) return undefined;
  const text = `${dataDir} cannot be used: ${owner ?? "this user may not write to it"}.`;
  const isOwn = owner === undefined && stats.uid === process.getuid?.();
  return error("data_dir", text, isOwn ? `chmod 700 ${shown}` : `sudo chown -R "$(id -un)" ${shown}`);
}

function readOnly(what: string, folder: string): Finding {
  const fix = remountFix(folder, "choose another --data-dir");
  return error("data_dir", `${what}: the file system of ${folder} is mounted read-only.`, fix);
}

function absentFolder(dataDir: string, { marks }: SpaceWish): Finding[] {
  const parent = nearestAbove(dataDir);
  const shown = quoted(dataDir);
  const fault = writeFault(parent);
  if (fault === "read_only") return [readOnly(`${dataDir} is not there, and cannot be made`, parent)];
  if (fault !== undefined) {
    const text = `${dataDir} is not there, and this user may not make it in ${parent}.`;
    return [error("data_dir", text, `sudo install -d -m 700 -o "$(id -un)" ${shown}`)];
  }
  const found = ok("data_dir", `${dataDir} is not there yet; svc serve makes it.`);
  return [found, ...spaceChecks(parent, fileSystemOf(parent), { marks })];
}

function nearestAbove(path: string): string {
  const above = dirname(path);
  return existsSync(above) || above === path ? above : nearestAbove(above);
}

function ownerFault(path: string, { uid }: Stats): string | undefined {
  const user = process.getuid?.();
  // Root may use files of other users.
  if (user === undefined || user === 0 || uid === user) return undefined;
  return `${path} belongs to another user (uid ${uid}, not ${user})`;
}

function isReadable(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** What root, or a copy made by another user, left in the folder. A server of the folder's user cannot use it. */
function ownerChecks(dataDir: string, { uid }: Stats): Finding[] {
  const kept = [...CONTENTS.files, ...CONTENTS.folders, ...keptKeys(dataDir)];
  const owned = kept.flatMap((name) => {
    const stats = lstatSync(join(dataDir, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, stats }];
  });
  const strange = owned.filter(({ stats }) => stats.uid !== uid).map(({ name }) => name);
  if (strange.length > 0) {
    const text = `${strange.join(", ")} in ${dataDir} ${strange.length === 1 ? "belongs" : "belong"} to another user than the folder: a server of the folder's user (uid ${uid}) cannot start.`;
    return [error("data_dir_owner", text, `sudo chown -R ${uid} ${quotedIn(dataDir, strange)}`)];
  }
  const written = owned.filter(({ name, stats }) => name.startsWith("svc.db") && !(stats.mode & 0o200));
  if (written.length === 0) return [ok("data_dir_owner", "What svc keeps in the data folder is its user's.")];
  const names = written.map(({ name }) => name);
  const text = `${names.join(", ")} in ${dataDir} may only be read: the database cannot be written.`;
  return [error("data_dir_owner", text, `chmod 600 ${quotedIn(dataDir, names)}`)];
}

const quotedIn = (folder: string, names: readonly string[]) =>
  names.map((name) => quoted(join(folder, name))).join(" ");

/** A start closes the folder. Until then others can read it. */
function privacyChecks(dataDir: string, stats: Stats): Finding[] {
  const shown = quoted(dataDir);
  const folder: Finding[] =
    (stats.mode & OTHERS) === 0
      ? [ok("data_dir_rights", "The data folder is its user's alone.")]
      : [
          warn(
            "data_dir_rights",
            `Other users can look into ${dataDir} (mode ${modeOf(stats)}); the next start closes it.`,
            `chmod 700 ${shown}`,
          ),
        ];
  const open = exposedSecrets(dataDir);
  if (open.length === 0) return [...folder, ok("secret_files", "Files with secrets are their user's alone.")];
  const text = `Other users can read ${open.join(", ")} in ${dataDir}, which hold secrets.`;
  return [...folder, warn("secret_files", text, `chmod 600 ${quotedIn(dataDir, open)}`)];
}

/** Files with secrets that others can read, below the data folder. */
export function exposedSecrets(dataDir: string): string[] {
  return [...SECRET_FILES, ...keptKeys(dataDir)].filter((name) => {
    const found = lstatSync(join(dataDir, name), { throwIfNoEntry: false });
    return found !== undefined && !found.isSymbolicLink() && (found.mode & OTHERS) !== 0;
  });
}

/** The files of keys that `svc providers add` keeps, as far as this user may see them. */
function keptKeys(dataDir: string): string[] {
  const folder = join(dataDir, KEPT_KEYS);
  return isReadable(folder) ? readdirSync(folder).map((name) => join(KEPT_KEYS, name)) : [];
}

const modeOf = ({ mode }: Stats) => (mode & 0o777).toString(8);

/** @param where a folder on the file system in question */
export function spaceChecks(
  where: string,
  { name, kind, freeBytes, totalBytes }: FileSystem,
  wish: SpaceWish = USUAL,
): Finding[] {
  const space = spaceCheck(where, { freeBytes, totalBytes }, wish);
  const elsewhere = "--data-dir on a disk of this machine";
  const system = {
    usual: ok("file_system", "The data folder is on a disk of this machine."),
    network: error(
      "file_system",
      `${where} is on ${name}: the database's write-ahead log needs shared memory, which no network file system has; data can be lost.`,
      elsewhere,
    ),
    shared: warn(
      "file_system",
      `${where} is on ${name}, which may not have the locks and the shared memory that the database's write-ahead log needs.`,
      elsewhere,
    ),
    memory: warn(
      "file_system",
      `${where} is on ${name}: everything is gone when the machine restarts.`,
      elsewhere,
    ),
    layer: warn(
      "file_system",
      `${where} is on ${name}, a layer of a container: everything is gone with the container.`,
      "--data-dir on a volume",
    ),
  }[kind];
  return [space, system];
}

function spaceCheck(
  where: string,
  { freeBytes, totalBytes }: Pick<FileSystem, "freeBytes" | "totalBytes">,
  { marks, advice = [] }: SpaceWish,
): Finding {
  const ways = advice.length === 0 ? "" : `${advice.join("; ")}. Or: `;
  const fix = `${ways}free some space on the disk of ${where}, or choose another --data-dir.`;
  const left = `The disk of ${where} has ${sizeText(freeBytes)} left`;
  // Even if a mark is off, there can be too little space.
  const [refuse, warnBelow] = (["refuse", "warn"] as const).map((which) =>
    markBytes(marks[which] ?? "auto", which, totalBytes),
  ) as [number, number];
  const isRefused = marks.refuse !== undefined;
  if (freeBytes < refuse) {
    const what = isRefused
      ? `less than ${sizeText(refuse)} (disk.refuse_mb): new tasks are refused`
      : "tasks are refused when it is full";
    return error("disk_space", `${left}: ${what}.`, fix);
  }
  if (freeBytes >= warnBelow) return ok("disk_space", `${sizeText(freeBytes)} free.`);
  const then = isRefused ? `below ${sizeText(refuse)} new tasks are refused` : "results use it up soon";
  return warn("disk_space", `${left}, less than ${sizeText(warnBelow)} (disk.warn_mb); ${then}.`, fix);
}

/** What the settings could free, also while there is space enough. */
function reclaimCheck({ advice }: SpaceWish): Finding[] {
  if (advice === undefined) return [];
  const text =
    advice.length === 0
      ? "Nothing that is kept here would free much space."
      : `What would free space: ${advice.join("; ")}.`;
  return [ok("disk_use", text)];
}

function serverCheck({ isHeld, pid }: FolderLook["server"]): Finding {
  if (!isHeld) return ok("server", "No server runs on the data folder.");
  return ok("server", `A server runs on the data folder${pid === undefined ? "" : ` (pid ${pid})`}.`);
}

function firstKeyCheck(dataDir: string): Finding[] {
  const path = join(dataDir, "bootstrap.json");
  if (!existsSync(path)) return [];
  const text = `The first API key still lies in ${path}, in the clear.`;
  return [warn("first_key", text, `rm ${quoted(path)}`)];
}
