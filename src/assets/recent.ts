/** Larger files are read from disk: once in memory they would push out many small ones. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

/** Small files stored lately, in memory: what was just made is about to be asked for. */
export interface RecentFiles {
  add(sha256: string, bytes: Uint8Array): void;
  get(sha256: string): Uint8Array<ArrayBuffer> | undefined;
  forget(sha256: string): void;
}

export function createRecentFiles(): RecentFiles {
  /** Oldest first. */
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  let totalBytes = 0;

  function forget(sha256: string): void {
    totalBytes -= files.get(sha256)?.length ?? 0;
    files.delete(sha256);
  }

  return {
    add(sha256, bytes) {
      if (bytes.length > MAX_FILE_BYTES || files.has(sha256)) return;
      // A copy: the bytes given may be a small part of something large.
      files.set(sha256, new Uint8Array(bytes));
      totalBytes += bytes.length;
      for (const oldest of files.keys()) {
        if (totalBytes <= MAX_TOTAL_BYTES) return;
        forget(oldest);
      }
    },
    get: (sha256) => files.get(sha256),
    forget,
  };
}
