import { closeSync, fsync, openSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { makeFolderNow } from "./make-folder.ts";
import { errorCode } from "./storage-errors.ts";

const flushFile = promisify(fsync);

/** Names the files of a folder of content, and makes the folders they lie in survive a crash. */
export function openFolders(directory: string) {
  const content = join(directory, "sha256");
  /** One flag for each of the 65,536 folders: its directory entry is known to be flushed. */
  const flushed = new Uint8Array(0x10000);
  /** Parents of those folders whose directory entries are flushed. */
  const flushedAbove = new Set<string>();
  /** The entry of `directory` is flushed. */
  let isRooted = false;

  function pathOf(sha256: string): string {
    // Every read of a file asks for it, and `join` takes most of the time of that.
    return `${content}${sep}${sha256.slice(0, 2)}${sep}${sha256.slice(2, 4)}${sep}${sha256}`;
  }

  /** Creates the folders of content files. Flushes them before anything is renamed into them, each parent once. */
  async function prepare(contents: readonly string[], when: "once" | "again" = "once"): Promise<void> {
    const numbers = contents.map((sha256) => Number.parseInt(sha256.slice(0, 4), 16));
    const isToDo = (number: number | undefined) => when === "again" || flushed[number ?? 0] !== 1;
    const folders = contents
      .filter((_, index) => isToDo(numbers[index]))
      .map((sha256) => dirname(pathOf(sha256)));
    if (folders.length === 0) return;
    for (const folder of folders) {
      const created = makeFolderNow(folder, directory);
      // A new folder is a new entry of its parent. An existing one may have been created just before a crash, unflushed.
      if (created !== undefined && created !== folder) flushedAbove.clear();
    }
    const above = new Set(folders.map(dirname));
    const isKnown = [...above].every((folder) => flushedAbove.has(folder));
    const root = isRooted ? [] : [flushIfOurs(dirname(directory))];
    await Promise.all([...root, ...(isKnown ? [...above] : [...above, content, directory]).map(flush)]);
    isRooted = true;
    for (const folder of above) flushedAbove.add(folder);
    for (const number of numbers) flushed[number] = 1;
  }

  return { pathOf, prepare };
}

/** Flushes the entries of a folder. */
export async function flush(folder: string): Promise<void> {
  const fd = openSync(folder, "r");
  try {
    await flushFile(fd);
  } finally {
    closeSync(fd);
  }
}

/** The same for a folder that may be somebody else's, which cannot be opened then. */
async function flushIfOurs(folder: string): Promise<void> {
  await flush(folder).catch((error: unknown) => {
    if (errorCode(error) !== "EACCES") throw error;
  });
}

/** Returns a function that flushes each folder once. Call it when everything that must be flushed is done. */
export function flushOnce(): (folder: string) => Promise<void> {
  const flushes = new Map<string, Promise<void>>();
  return (folder) => {
    const known = flushes.get(folder) ?? flush(folder);
    flushes.set(folder, known);
    return known;
  };
}
