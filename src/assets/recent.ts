import type { MediaType } from "../domain/media/asset.ts";

/** Larger files are read from disk: in memory one of them would displace many small ones. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;
/** What a file counts for at least, because there is more to it than its bytes. */
const MIN_FILE_BYTES = 1024;

/**
 * Keeps small files in memory that callers are about to fetch: those stored lately, and those asked for twice, with no more than 16 MB of
 * others asked for in between. A caller that fetches each of very many files once displaces none.
 */
export function createRecentFiles() {
  /** Answers send a Blob without copying it. */
  const files = createShelf<Blob>();
  const askedFor = createShelf<true>();
  return {
    /** @returns it as it is kept, unless it is too large */
    add(sha256: string, bytes: Uint8Array, type: MediaType): Blob | undefined {
      const known = files.get(sha256);
      if (known !== undefined || bytes.length > MAX_FILE_BYTES) return known;
      // A Blob copies them: the given bytes may be a small view of a large buffer. Safe: nothing here shares memory with threads.
      const file = new Blob([bytes as Uint8Array<ArrayBuffer>], { type });
      files.put(sha256, file, bytes.length);
      return file;
    },
    get: (sha256: string): Blob | undefined => files.get(sha256),
    /** The bytes of an MP4 are a video for one task, and a recording of sound for another. */
    getAs(sha256: string, type: MediaType): Blob | undefined {
      const known = files.get(sha256);
      return known === undefined || known.type === type ? known : known.slice(0, known.size, type);
    },
    /** Notes that a file which is not here is asked for. @returns whether it should be added */
    isAskedForAgain(sha256: string, sizeBytes: number): boolean {
      if (sizeBytes > MAX_FILE_BYTES) return false;
      const isAgain = askedFor.get(sha256) === true;
      if (isAgain) askedFor.remove(sha256);
      else askedFor.put(sha256, true, sizeBytes);
      return isAgain;
    },
    forget: (sha256: string): void => files.remove(sha256),
  };
}

export type RecentFiles = ReturnType<typeof createRecentFiles>;

interface Entry<T> {
  readonly key: string;
  readonly value: T;
  readonly sizeBytes: number;
  before: Entry<T> | undefined;
  after: Entry<T> | undefined;
}

/**
 * What stands for files of 16 MB together. What was not asked for longest goes first: entries are a list in the order in which they were asked
 * for, because to find the first key of a Map from which much was deleted takes long.
 */
function createShelf<T>() {
  const entries = new Map<string, Entry<T>>();
  let totalBytes = 0;
  let first: Entry<T> | undefined;
  let last: Entry<T> | undefined;

  function append(entry: Entry<T>): void {
    entry.before = last;
    entry.after = undefined;
    if (last === undefined) first = entry;
    else last.after = entry;
    last = entry;
  }

  function takeOut({ before, after }: Entry<T>): void {
    if (before === undefined) first = after;
    else before.after = after;
    if (after === undefined) last = before;
    else after.before = before;
  }

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    takeOut(entry);
    totalBytes -= entry.sizeBytes;
  }

  return {
    put(key: string, value: T, fileBytes: number): void {
      if (entries.has(key)) return;
      const sizeBytes = Math.max(fileBytes, MIN_FILE_BYTES);
      const entry = { key, value, sizeBytes, before: undefined, after: undefined };
      entries.set(key, entry);
      append(entry);
      totalBytes += sizeBytes;
      while (first !== undefined && totalBytes > MAX_TOTAL_BYTES) remove(first.key);
    },
    get(key: string): T | undefined {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      takeOut(entry);
      append(entry);
      return entry.value;
    },
    remove,
  };
}
