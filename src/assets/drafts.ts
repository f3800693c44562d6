import { type FileHandle, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFully } from "./file-window.ts";
import { makeFolder } from "./make-folder.ts";
import { errorCode, storing } from "./storage-errors.ts";

/** A temporary file being filled. `keep` makes it a content file, `discard` removes whatever was not kept. */
export interface Draft {
  readonly handle: FileHandle;
  /** Where it is until it is kept or discarded. */
  readonly path: string;
  append(chunk: Uint8Array): Promise<void>;
}

const DRAFT = /^asset_[0-9a-z]{26}$/;

/** Whether a file in the folder of drafts has the name of one. What has another name is not ours. */
export const isDraft = (name: string): boolean => DRAFT.test(name);

/** Creates and removes temporary files in a folder. @param newName returns an unused id of an asset */
export function openDrafts(folder: string, newName: () => string) {
  /** Drafts not yet renamed or removed, and where they are. */
  const paths = new Map<Draft, string>();

  function draft(): Promise<Draft> {
    return storing(async () => {
      const path = join(folder, newName());
      const handle = await open(path, "wx+", 0o600).catch(async (error: unknown) => {
        if (errorCode(error) !== "ENOENT") throw error;
        await makeFolder(folder, dirname(folder));
        return open(path, "wx+", 0o600);
      });
      let sizeBytes = 0;
      const append = async (chunk: Uint8Array): Promise<void> => {
        await storing(() => writeFully(handle, chunk, sizeBytes));
        sizeBytes += chunk.length;
      };
      const created = { handle, path, append };
      paths.set(created, path);
      return created;
    });
  }

  /** Lets go of a draft that `take` moves away from this path. */
  async function handOver<T>(file: Draft, take: (path: string) => Promise<T>): Promise<T> {
    const path = paths.get(file);
    if (path === undefined) throw new Error("This draft was kept or discarded before.");
    const result = await take(path);
    paths.delete(file);
    await file.handle.close();
    return result;
  }

  async function discard(file: Draft): Promise<void> {
    const path = paths.get(file);
    if (path === undefined) return;
    paths.delete(file);
    await rm(path, { force: true });
    await file.handle.close();
  }

  return {
    draft,
    discard,
    /** Removes every draft in the folder; if an age is given, those that nobody has written to for so long. @returns how many */
    removeAll: (ageMs?: number): Promise<number> =>
      storing(async () => {
        if (ageMs === undefined) return removeOlder(folder, Number.POSITIVE_INFINITY);
        const now = await timeOf(folder, newName());
        return now === undefined ? 0 : removeOlder(folder, now - ageMs);
      }),
    /** Where a draft is; undefined once it was kept or discarded. */
    pathOf: (file: Draft) => paths.get(file),
    handOver,
  };
}

/**
 * The time by the clock of the machine that stores files, by which their own times are: the clocks of machines that share a folder may
 * differ. Undefined where nothing can be written, and where there is no folder.
 */
async function timeOf(folder: string, name: string): Promise<number | undefined> {
  const path = join(folder, name);
  try {
    await writeFile(path, "", { flag: "wx", mode: 0o600 });
    return (await stat(path)).mtimeMs;
  } catch {
    // What cannot be dated stays for the next time.
    return undefined;
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

async function removeOlder(folder: string, before: number): Promise<number> {
  let count = 0;
  for (const name of await readdir(folder).catch(emptyWhenMissing)) {
    const path = join(folder, name);
    if (!isDraft(name) || !(await isOlder(path, before))) continue;
    await rm(path, { force: true });
    count += 1;
  }
  return count;
}

/** Whether a file was last written to before a time; false for one that is gone. */
async function isOlder(path: string, before: number): Promise<boolean> {
  if (before === Number.POSITIVE_INFINITY) return true;
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.mtimeMs < before;
}

function emptyWhenMissing(error: unknown): string[] {
  if (errorCode(error) === "ENOENT") return [];
  throw error;
}
