import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode, storing } from "./storage-errors.ts";

const SHA256 = /^[0-9a-f]{64}$/;

/** A temporary file being filled. Ends as a content file by `keep`, or is removed by `discard`; both close it. */
export interface Draft {
  readonly path: string;
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
  /** One flag for each of the 65,536 folders: whether its own entry is known to be flushed. */
  const flushed = new Uint8Array(0x10000);

  function pathOf(sha256: string): string {
    return join(content, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  function draft(): Promise<Draft> {
    return storing(async () => {
      const path = join(temporary, options.newTemporaryName());
      const handle = await open(path, "wx+", 0o600).catch(async (error: unknown) => {
        if (errorCode(error) !== "ENOENT") throw error;
        await mkdir(temporary, { recursive: true });
        return open(path, "wx+", 0o600);
      });
      let at = 0;
      return {
        path,
        handle,
        append: (chunk) => storing(async () => void (at += await writeAll(handle, chunk, at))),
      };
    });
  }

  async function discard(file: Draft): Promise<void> {
    await file.handle.close().catch(ignoreClosed);
    await rm(file.path, { force: true });
  }

  /** Makes the draft the content file of this hash; drops it when there already is one of the same size. */
  function keep(file: Draft, sha256: string, sizeBytes: number): Promise<void> {
    return storing(async () => {
      const path = pathOf(sha256);
      if ((await sizeOf(path)) === sizeBytes) await discard(file);
      else {
        await file.handle.sync();
        await file.handle.close();
        await rename(file.path, path).catch(async (error: unknown) => {
          if (errorCode(error) !== "ENOENT") throw error;
          await mkdir(dirname(path), { recursive: true });
          await rename(file.path, path);
        });
      }
      await flushFolders(sha256);
    });
  }

  /** Whether this content is already kept; if so, it is made sure that it outlives a crash. */
  function isKept(sha256: string, sizeBytes: number): Promise<boolean> {
    return storing(async () => {
      if ((await sizeOf(pathOf(sha256))) !== sizeBytes) return false;
      // Another put may have renamed this very file a moment ago and not flushed the folder yet.
      await flushFolders(sha256);
      return true;
    });
  }

  async function flushFolders(sha256: string): Promise<void> {
    const folder = dirname(pathOf(sha256));
    await flush(folder);
    const number = Number.parseInt(sha256.slice(0, 4), 16);
    if (flushed[number] === 1) return;
    for (const parent of [dirname(folder), content, options.directory]) await flush(parent);
    flushed[number] = 1;
  }

  /** The file's size, or undefined when there is none (or the name is no hash). */
  async function find(sha256: string): Promise<{ path: string; sizeBytes: number } | undefined> {
    if (!SHA256.test(sha256)) return undefined;
    const path = pathOf(sha256);
    const sizeBytes = await sizeOf(path);
    return sizeBytes === undefined ? undefined : { path, sizeBytes };
  }

  function removeTemporary(): Promise<number> {
    return storing(async () => {
      const names = await readdir(temporary).catch(emptyWhenMissing);
      for (const name of names) await rm(join(temporary, name), { recursive: true, force: true });
      return names.length;
    });
  }

  return { draft, keep, discard, isKept, find, removeTemporary };
}

export type ContentFiles = ReturnType<typeof openContentFiles>;

/** A single write may take less than it is given, the more so on a disk that is nearly full. */
async function writeAll(handle: FileHandle, chunk: Uint8Array, at: number): Promise<number> {
  let written = 0;
  while (written < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, at + written);
    written += bytesWritten;
  }
  return written;
}

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

function ignoreClosed(error: unknown): void {
  if (errorCode(error) !== "EBADF") throw error;
}

function emptyWhenMissing(error: unknown): string[] {
  if (errorCode(error) === "ENOENT") return [];
  throw error;
}
