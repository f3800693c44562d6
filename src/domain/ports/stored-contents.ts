/** What lies in the folder of stored files, whoever refers to it. Safe beside other processes that store and read there. */
export interface StoredContents {
  /** The contents by their SHA-256, a folder of them at a time, in no order. */
  folders(): AsyncIterable<readonly string[]>;
  /** A stored file; undefined where there is none. */
  look(sha256: string): Promise<{ readonly sizeBytes: number; readonly usedAt: number } | undefined>;
  /** Reads a whole file. @returns the SHA-256 of what it holds; undefined where there is none */
  rehash(sha256: string): Promise<string | undefined>;
  /**
   * Removes a content that nobody uses. It is set aside first, and put back if somebody used it since `unusedSince` or `isNeeded` by
   * then: a crash in between loses nothing, because `settle` goes on with what was set aside.
   *
   * @returns whether it is gone
   */
  remove(sha256: string, judge: Judge): Promise<boolean>;
  /** Puts back or removes what an earlier process had set aside. @returns how many */
  settle(judge: Judge): Promise<number>;
}

/** Decides whether a content that is set aside must stay. */
export interface Judge {
  /** Epoch milliseconds. A file that was used later stays. */
  readonly unusedSince: number;
  readonly isNeeded: (sha256: string) => Promise<boolean>;
}
