import { type BigIntStats, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "./system-error.ts";

/** A file that an operator keeps for this program: what it says, or why it cannot be read, as a clause that its name begins. */
export type OwnFile =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly problem: string };

export interface OwnFilesOptions {
  /** A larger file is not read. */
  readonly maxBytes: number;
}

export interface OwnFilesWatch extends OwnFilesOptions {
  readonly clock: { after(delayMs: number, run: () => void): () => void };
  /** Called at once, and whenever any of the files has changed, with all files in the order of their names. */
  readonly onChange: (files: readonly OwnFile[]) => void;
}

/** Two checks in a row notice a change, so it takes 1.5 seconds at most. */
export const LOOK_EVERY_MS = 750;
/** More are not read, so that a look stays short. */
const MOST_FILES = 500;

/**
 * Follows the files `*.yaml` of a folder, which need not exist. A change counts once two looks in a row find it the same, so that a
 * file is not read while it is written. Files whose names begin with `.` or `#`, as editors name theirs, do not count.
 *
 * @returns a function that stops it
 */
export function watchOwnFiles(folder: string, { maxBytes, clock, onChange }: OwnFilesWatch): () => void {
  const read = createReader(folder, maxBytes);
  let taken = namesIn(folder);
  let seen = taken;
  let cancelTimer = () => {};

  function look(): void {
    const present = namesIn(folder);
    // A folder that cannot be read says nothing about its files.
    if (present !== "unreadable") {
      const isAtRest = isSame(present, seen);
      seen = present;
      if (isAtRest && !isSame(present, taken)) {
        taken = present;
        onChange(read(present));
      }
    }
    cancelTimer = clock.after(LOOK_EVERY_MS, look);
  }

  onChange(read(taken));
  cancelTimer = clock.after(LOOK_EVERY_MS, look);
  return () => cancelTimer();
}

/** Reads the same files once. */
export function readOwnFiles(folder: string, { maxBytes }: OwnFilesOptions): readonly OwnFile[] {
  return createReader(folder, maxBytes)(namesIn(folder));
}

/** Names of the files, each with what changes when its file does. */
type Present = ReadonlyMap<string, string> | "unreadable";

function namesIn(folder: string): Present {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".yaml") && !/^[.#]/.test(name));
    const present = names
      .sort()
      .slice(0, MOST_FILES + 1)
      .map((name) => [name, signOf(join(folder, name))] as const);
    return new Map(present.filter(([, sign]) => sign !== ""));
  } catch (error) {
    return isGone(error) ? new Map() : "unreadable";
  }
}

/** Empty for a file that is not there, such as one that is just being replaced. */
function signOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    return isGone(error) ? "" : reasonOf(error);
  }
}

function isSame(one: Present, other: Present): boolean {
  if (one === "unreadable" || other === "unreadable") return one === other;
  return one.size === other.size && [...one].every(([name, sign]) => other.get(name) === sign);
}

/** Reads each file again only if it has changed. */
function createReader(folder: string, maxBytes: number): (present: Present) => readonly OwnFile[] {
  let known = new Map<string, { readonly sign: string; readonly file: OwnFile }>();
  return (present) => {
    if (present === "unreadable") return [{ name: ".", problem: "cannot be looked into" }];
    const files = [...present].slice(0, MOST_FILES).map(([name, sign]) => {
      const before = known.get(name);
      const file = before?.sign === sign ? before.file : readOwnFile(folder, name, maxBytes);
      return [name, { sign, file }] as const;
    });
    known = new Map(files);
    const read = files.map(([, { file }]) => file);
    if (present.size <= MOST_FILES) return read;
    return [...read, { name: ".", problem: `has more than ${MOST_FILES} files; the rest is not read` }];
  };
}

function readOwnFile(folder: string, name: string, maxBytes: number): OwnFile {
  const path = join(folder, name);
  try {
    const stats = statSync(path);
    // Reading a pipe would wait for its writer.
    if (!stats.isFile()) return { name, problem: "is no file" };
    if (stats.size > maxBytes) return { name, problem: `is larger than ${maxBytes} bytes` };
    return { name, text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)) };
  } catch (error) {
    if (error instanceof TypeError) return { name, problem: "is not valid UTF-8" };
    return { name, problem: `cannot be read: ${reasonOf(error)}` };
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
