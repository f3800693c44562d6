import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

const CHUNK_BYTES = 1024 * 1024;
/** Written data is flushed in parts, because one long flush would delay the commits of a server on the same disk. */
const FLUSH_EVERY_BYTES = 16 * CHUNK_BYTES;
/** How many files are under way at once. */
const AT_ONCE = 8;

/** What reading a file found. */
export interface Content {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Reads a file piece by piece. Each piece is overwritten by the next one. */
export async function* pieces(handle: FileHandle, from = 0): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let at = from; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export async function hashFile(path: string): Promise<Content> {
  const handle = await open(path, "r");
  try {
    return await hashOpen(handle);
  } finally {
    await handle.close();
  }
}

/** The same of an open file, whose name may lead elsewhere meanwhile. */
export async function hashOpen(handle: FileHandle): Promise<Content> {
  const hasher = new Bun.CryptoHasher("sha256");
  let sizeBytes = 0;
  for await (const piece of pieces(handle)) {
    hasher.update(piece);
    sizeBytes += piece.length;
  }
  return { sizeBytes, sha256: hasher.digest("hex") };
}

/** Writes a new file, flushed, accessible only to its owner. @returns what it contains */
export async function writeNew(path: string, content: AsyncIterable<Uint8Array>): Promise<Content> {
  const handle = await open(path, "wx", 0o600);
  try {
    const hasher = new Bun.CryptoHasher("sha256");
    let [sizeBytes, unflushed] = [0, 0];
    for await (const piece of content) {
      hasher.update(piece);
      await writeAll(handle, piece);
      sizeBytes += piece.length;
      unflushed += piece.length;
      if (unflushed < FLUSH_EVERY_BYTES) continue;
      await handle.datasync();
      unflushed = 0;
    }
    await handle.sync();
    return { sizeBytes, sha256: hasher.digest("hex") };
  } finally {
    await handle.close();
  }
}

/** Copies a file into a new one, flushed. @returns what was copied */
export async function copyNew(from: string, to: string): Promise<Content> {
  const handle = await open(from, "r");
  try {
    return await writeNew(to, pieces(handle));
  } finally {
    await handle.close();
  }
}

export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done);
    done += bytesWritten;
  }
}

/** Makes a file's data, or the names in a folder, survive a loss of power. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates folders below an existing root, each once, and flushes them all at the end. */
export function createFolders(root: string) {
  const made = new Map<string, Promise<void>>();

  function make(folder: string): Promise<void> {
    if (folder === root) return Promise.resolve();
    const known = made.get(folder);
    if (known !== undefined) return known;
    const making = make(dirname(folder)).then(async () => {
      await mkdir(folder, { mode: 0o700 });
    });
    made.set(folder, making);
    return making;
  }

  return {
    /** Makes the folder of a file. */
    forFile: (path: string) => make(dirname(path)),
    flushAll: () => inParallel([root, ...made.keys()], flush),
  };
}

/** Works on several at once. Ends at the first failure, after the work under way has ended. */
export async function inParallel<T>(
  all: Iterable<T> | AsyncIterable<T>,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const one of all) {
    const job: Promise<void> = work(one)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(job));
    running.add(job);
    if (running.size >= AT_ONCE) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
