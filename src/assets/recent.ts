/** Larger files are read from disk: in memory one of them would displace many small ones. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

/** Keeps small files that were stored lately in memory, since callers are about to fetch them. */
export function createRecentFiles() {
  /** Oldest first. */
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  let totalBytes = 0;

  function forget(sha256: string): void {
    totalBytes -= files.get(sha256)?.length ?? 0;
    files.delete(sha256);
  }

  return {
    add(sha256: string, bytes: Uint8Array): void {
      if (bytes.length > MAX_FILE_BYTES || files.has(sha256)) return;
      // Copy them: the given bytes may be a small view of a large buffer.
      files.set(sha256, new Uint8Array(bytes));
      totalBytes += bytes.length;
      for (const oldest of files.keys()) {
        if (totalBytes <= MAX_TOTAL_BYTES) return;
        forget(oldest);
      }
    },
    get: (sha256: string) => files.get(sha256),
    forget,
  };
}

export type RecentFiles = ReturnType<typeof createRecentFiles>;
