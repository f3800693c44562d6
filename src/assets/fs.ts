import { rmSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFully } from "./file-window.ts";
import { errorCode, storing } from "./storage-errors.ts";

const SHA256 = /^[0-9a-f]{64}$/;

/** A temporary file being filled. `keep` makes it a content file, `discard` removes whatever was not kept. */
export interface Draft {
  readonly handle: FileHandle;
  append(chunk: Uint8Array): Promise<void>;
}

/**
 * Files named by the SHA-256 of their content: `<directory>/sha256/ab/cd/<64 hexadecimal digits>`.
 *
 * A content file appears by renaming a flushed temporary file, and `keep` returns after the directories were flushed too:
 * a crash at any point leaves the whole file or none.
 */
export function openContentFiles(options: { directory: string; newTemporaryName: () => string }) {
  const temporary = join(options.directory, "tmp");
  const content = join(options.directory, "sha256");
  /** One flag for each of the 65,536 folders: its directory entry is known to be flushed. */
  const flushed = new Uint8Array(0x10000);
  /** Parents of those folders whose directory entries are flushed. */
  const flushedAbove = new Set<string>();

  function pathOf(sha256: string): string {
    return join(content, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  /** Drafts not yet renamed or removed, and where they are. */
  const paths = new Map<Draft, string>();

  function draft(): Promise<Draft> {
    return storing(async () => {
      const path = join(temporary, options.newTemporaryName());
      const handle = await open(path, "wx+", 0o600).catch(async (error: unknown) => {
        if (errorCode(error) !== "ENOENT") throw error;
        await mkdir(temporary, { recursive: true });
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

  async function discard(file: Draft): Promise<void> {
    const path = paths.get(file);
    if (path === undefined) return;
    paths.delete(file);
    await rm(path, { force: true });
    await file.handle.close();
  }

  /** Turns the draft into the content file of this hash. Replaces an existing one. */
  function keep(file: Draft, sha256: string): Promise<void> {
    return storing(async () => {
      const from = paths.get(file);
      if (from === undefined) throw new Error("This draft was kept or discarded before.");
      const path = pathOf(sha256);
      await Promise.all([file.handle.sync(), prepareFolder(sha256)]);
      await rename(from, path).catch(async (error: unknown) => {
        // Somebody removed the empty folder in the meantime.
        if (errorCode(error) !== "ENOENT") throw error;
        await prepareFolder(sha256, "again");
        await rename(from, path);
      });
      paths.delete(file);
      await file.handle.close();
      await flush(dirname(path));
    });
  }

  /** Makes an existing content file survive a crash: it may have been renamed a moment ago. */
  function settle(sha256: string): Promise<void> {
    return storing(async () => {
      await prepareFolder(sha256);
      await flush(dirname(pathOf(sha256)));
    });
  }

  /** Removes the content file, if there is one. Synchronous, so that nobody can find the file in between and rely on it. */
  function remove(sha256: string): Promise<void> {
    return storing(async () => rmSync(pathOf(sha256), { force: true }));
  }

  /** Creates the folder of a content file. Flushes it before anything is renamed into it. */
  async function prepareFolder(sha256: string, when: "once" | "again" = "once"): Promise<void> {
    const number = Number.parseInt(sha256.slice(0, 4), 16);
    if (when === "once" && flushed[number] === 1) return;
    const folder = dirname(pathOf(sha256));
    const above = dirname(folder);
    const created = await mkdir(folder, { recursive: true });
    // A new folder is a new entry of its parent. An existing one may have been created just before a crash, unflushed.
    if (created !== undefined && created !== folder) flushedAbove.clear();
    const isKnown = flushedAbove.has(above);
    await Promise.all((isKnown ? [above] : [above, content, options.directory]).map(flush));
    flushedAbove.add(above);
    flushed[number] = 1;
  }

  /** Returns undefined when there is no such file, or when the name is no hash. */
  async function find(sha256: string): Promise<{ path: string; sizeBytes: number } | undefined> {
    if (!SHA256.test(sha256)) return undefined;
    const path = pathOf(sha256);
    const sizeBytes = await sizeOf(path);
    return sizeBytes === undefined ? undefined : { path, sizeBytes };
  }

  /** Like `find`, but synchronous: for content whose folder is in the operating system's cache. */
  function isThere(sha256: string, sizeBytes: number): boolean {
    return statSync(pathOf(sha256), { throwIfNoEntry: false })?.size === sizeBytes;
  }

  function removeTemporary(): Promise<number> {
    return storing(async () => {
      const names = await readdir(temporary).catch(emptyWhenMissing);
      for (const name of names) await rm(join(temporary, name), { recursive: true, force: true });
      return names.length;
    });
  }

  return { draft, keep, discard, settle, remove, find, isThere, removeTemporary };
}

export type ContentFiles = ReturnType<typeof openContentFiles>;

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

async function flush(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function emptyWhenMissing(error: unknown): string[] {
  if (errorCode(error) === "ENOENT") return [];
  throw error;
}
