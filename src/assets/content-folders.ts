import { closeSync, existsSync, fsync, openSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { makeFolderNow } from "./make-folder.ts";
import { errorCode } from "./storage-errors.ts";

const flushFile = promisify(fsync);

/** Names the files of a folder of content, and makes the folders they lie in survive a crash. */
export function openFolders(directory: string) {
  const content = join(directory, "sha256");
  /** The folders of files whose entries are flushed, by the two digits that name them. */
  const flushed = new Set<string>();
  /** The entries of `directory` and of the folder in it are flushed. */
  let isRooted = false;

  // Every read of a file asks for it, and `join` takes most of the time of that.
  const folderOf = (sha256: string) => `${content}${sep}${sha256.slice(0, 2)}`;
  const pathOf = (sha256: string) => `${folderOf(sha256)}${sep}${sha256}`;
  /** Where versions before stored it. With 65,536 folders, nearly every file needed a new one, which took longer than the file. */
  const earlierPathOf = (sha256: string) => `${folderOf(sha256)}${sep}${sha256.slice(2, 4)}${sep}${sha256}`;

  /** Creates the folders of content files. Flushes them before anything is renamed into them, each once. */
  async function prepare(contents: readonly string[], when: "once" | "again" = "once"): Promise<void> {
    const isToDo = (sha256: string) => when === "again" || !flushed.has(sha256.slice(0, 2));
    const folders = new Set(contents.filter(isToDo).map(folderOf));
    if (folders.size === 0) return;
    for (const folder of folders) {
      const created = makeFolderNow(folder, directory);
      if (created !== undefined && created !== folder) isRooted = false;
    }
    const roots = isRooted ? [] : [flushIfOurs(dirname(directory)), flush(directory)];
    // A new folder is a new entry. An existing one may have been created just before a crash, unflushed.
    await Promise.all([...roots, flush(content)]);
    isRooted = true;
    for (const sha256 of contents) flushed.add(sha256.slice(0, 2));
  }

  return { pathOf, earlierPathOf, prepare };
}

/** Where a content lies in a folder of stored files, or would lie. */
export function placeOf(directory: string, sha256: string): string {
  const { pathOf, earlierPathOf } = openFolders(directory);
  return [pathOf(sha256), earlierPathOf(sha256)].find(existsSync) ?? pathOf(sha256);
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
