/**
 * The contents in the folder of stored files, whatever refers to them. Safe to use while other processes store and read there.
 */
export interface StoredContents {
  /** The contents by their SHA-256, up to 1,000 at a time, in no order. One that is moved or stored meanwhile may come twice. */
  folders(): AsyncIterable<readonly string[]>;
  /** A stored file; undefined if there is none. */
  look(sha256: string): Promise<{ readonly sizeBytes: number; readonly usedAt: number } | undefined>;
  /** Reads a whole file. @returns the SHA-256 of its bytes; undefined if there is no file */
  rehash(sha256: string): Promise<string | undefined>;
  /**
   * Removes a content that nobody uses. First it is set aside. It is put back if somebody used it since `unusedSince`, or if
   * `isNeeded` says so by then. A crash in between loses nothing, because `settle` finishes the work for files that are set
   * aside.
   *
   * @returns whether it is gone
   */
  remove(sha256: string, judge: Judge): Promise<boolean>;
  /** Puts back or removes files that an earlier process had set aside. @returns how many */
  settle(judge: Judge): Promise<number>;
}

/** Decides whether a content that is set aside must stay. */
export interface Judge {
  /** Epoch milliseconds. A file that was used after this time stays. */
  readonly unusedSince: number;
  readonly isNeeded: (sha256: string) => Promise<boolean>;
}
