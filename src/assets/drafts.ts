import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFully } from "./file-window.ts";
import { makeFolder } from "./make-folder.ts";
import { errorCode, storing } from "./storage-errors.ts";

/** A temporary file being filled. `keep` makes it a content file, `discard` removes whatever was not kept. */
export interface Draft {
  readonly handle: FileHandle;
  append(chunk: Uint8Array): Promise<void>;
}

/** Creates and removes temporary files in a folder. */
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
      const created = { handle, append };
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

  /** Removes every file in the folder. @returns how many */
  function removeAll(): Promise<number> {
    return storing(async () => {
      const names = await readdir(folder).catch(emptyWhenMissing);
      for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
      return names.length;
    });
  }

  return {
    draft,
    discard,
    removeAll,
    /** Where a draft is; undefined once it was kept or discarded. */
    pathOf: (file: Draft) => paths.get(file),
    handOver,
  };
}

function emptyWhenMissing(error: unknown): string[] {
  if (errorCode(error) === "ENOENT") return [];
  throw error;
}
