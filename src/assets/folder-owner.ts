import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { flush } from "./content-folders.ts";
import { makeFolderNow } from "./make-folder.ts";
import { OWNER, type OwnerMark } from "./owner.ts";
import { errorCode, storing } from "./storage-errors.ts";

/** The files of a folder belong to another data folder: each of the two would remove what the other stores. */
export class FilesTaken extends Error {
  override readonly name = "FilesTaken";
}

/**
 * The name of the owner in a folder of files, which is made with the folder where there is none. Everything throws StorageError.
 *
 * @param options.newName returns an unused name for a file that is not whole yet
 * @param options.onMade called with each file and folder that was made
 */
export function openFolderMark(
  directory: string,
  { now, newName, onMade }: { now: () => number; newName: () => string; onMade: (path: string) => void },
): OwnerMark {
  const path = join(directory, OWNER);

  // A server looks once a second: a network folder that hangs must not hold up everybody.
  async function read() {
    try {
      const text = await readFile(path, "utf8");
      return { text, tag: text };
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  return {
    place: `the folder ${directory}`,
    read: () => storing(read),
    write: (text, known) =>
      storing(async () => {
        if (makeFolderNow(directory, directory) !== undefined) onMade(directory);
        const draft = `${path}.${newName()}.part`;
        try {
          writeFileSync(draft, text, { mode: 0o600, flush: true });
          onMade(draft);
          if (known === undefined) putNew(draft, path);
          else if ((await read())?.tag === known.tag) renameSync(draft, path);
        } finally {
          rmSync(draft, { force: true });
        }
        await flush(directory);
      }),
    now,
    taken: (message) => new FilesTaken(message),
  };
}

/** Gives a file its name, unless something has the name. */
function putNew(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    // Not every file system has links.
    renameSync(draft, path);
  }
}
