import type { FileHandle } from "node:fs/promises";

const WINDOW_BYTES = 64 * 1024;

/** Random reads of an open file through one window, so that walking small structures does not cost a system call each. */
export function openWindow(handle: FileHandle, sizeBytes: number) {
  let window: Uint8Array = new Uint8Array(0);
  let start = 0;

  /** Reads up to `length` bytes from `at` on, fewer at the end of the file. */
  async function read(at: number, length: number): Promise<Uint8Array> {
    const end = Math.min(at + length, sizeBytes);
    if (at >= end) return new Uint8Array(0);
    if (at < start || end > start + window.length) {
      window = await readFully(handle, at, Math.min(Math.max(length, WINDOW_BYTES), sizeBytes - at));
      start = at;
    }
    return window.subarray(at - start, end - start);
  }

  /** Overwrites part of the file. */
  async function write(at: number, bytes: Uint8Array): Promise<void> {
    await writeFully(handle, bytes, at);
    window = new Uint8Array(0);
  }

  return { sizeBytes, read, write };
}

export type FileWindow = ReturnType<typeof openWindow>;

/** Reads `length` bytes, fewer only at the end of the file. */
export async function readFully(handle: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** One write may store fewer bytes than given, especially on a nearly full disk. */
export async function writeFully(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** Overwrites a range with zeros. */
export async function erase(file: FileWindow, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += WINDOW_BYTES)
    await file.write(at, new Uint8Array(Math.min(WINDOW_BYTES, to - at)));
}
