import type { StoredFile } from "../domain/media/asset.ts";
import type { Delivery, Wanted } from "../domain/ports/asset-store.ts";
import type { Draft } from "./drafts.ts";

/** A file's name. Whatever is not one may be a path. */
export const SHA256 = /^[0-9a-f]{64}$/;

/** What names a file, and says what it is. */
export type FileName = Pick<StoredFile, "sha256" | "sizeBytes" | "type">;

export interface KeepOptions {
  /** There is no other copy of the file, so waiting for an unreachable store is worthwhile. */
  readonly isOnlyCopy?: boolean | undefined;
}

/** Files by the SHA-256 of their content, and those that are not whole yet. Everything throws StorageError. */
export interface ContentFiles {
  draft(): Promise<Draft>;
  /** Removes a draft, unless it was kept. */
  discard(draft: Draft): Promise<void>;
  /** Removes the drafts that a crash left; if an age is given, those that nobody has written to for so long. @returns how many */
  removeTemporary(ageMs?: number): Promise<number>;
  /** Stores a draft under the hash of its content, so that it survives a crash. Replaces a file of another size. */
  keep(draft: Draft, file: FileName, options?: KeepOptions): Promise<void>;
  /** The same for a content that is in memory, at most `MOST_TOGETHER_BYTES` of it, without a draft. Absent where that is no faster. */
  keepBytes?(bytes: Uint8Array, file: FileName): Promise<void>;
  /** Makes sure that a file which was found survives a crash, as `claim` does. @returns false where it must be stored anew */
  settle(file: FileName): Promise<boolean>;
  /** Removes a file, wherever it is. */
  remove(sha256: string): Promise<void>;
  /** The file where new ones are stored. */
  find(sha256: string, options?: KeepOptions): Promise<{ readonly sizeBytes: number } | undefined>;
  /** Whether the file is in a place where new ones are not stored any more. */
  isElsewhere(sha256: string, options?: KeepOptions): Promise<boolean>;
  /**
   * Records that a file is about to be used, so that a collector in another process leaves it alone. Synchronous.
   *
   * @returns whether it is certainly there
   */
  claim(file: FileName): boolean;
  /** The same for a file that is not held here. @returns whether it is there */
  use(file: FileName): Promise<boolean>;
  /** Runs work on one file while nothing else is done to it. */
  alone<T>(sha256: string, work: () => Promise<T>): Promise<T>;
  /** The path of a complete file on this machine. Synchronous, because a check takes microseconds. */
  pathIfThere(file: FileName): string | undefined;
  /** The same, for which the file is brought to this machine where it is elsewhere. */
  bring(file: FileName): Promise<string | undefined>;
  /** How a file that is not on this machine gets to a reader; undefined to bring it first. See AssetStore.deliver. */
  deliver?(
    file: FileName,
    wanted: Wanted,
    isSentFromHere?: boolean | undefined,
  ): Promise<Delivery | undefined>;
}
