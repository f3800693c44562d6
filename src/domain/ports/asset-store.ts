import type { MediaKind, StoredFile } from "../media/asset.ts";

export interface PutOptions {
  /** What the file may be. */
  readonly accept: readonly MediaKind[];
  readonly maxBytes: number;
  /** Inputs: location and other metadata is taken out of images before they are stored. */
  readonly sanitize: boolean;
}

/** A file that was read, checked and hashed, and is not yet one of the store. Every one must be released, whatever happens. */
export interface StagedFile {
  readonly file: StoredFile;
  /**
   * Makes it a stored file that outlives a crash. Calling it again changes nothing.
   *
   * @throws StorageError when it cannot be written; then it is not stored
   */
  keep(): Promise<void>;
  /**
   * Ends the staging. Unless `isUsed`, what this staging brought into the store is taken out again, except where equal content
   * was there before, or others staged and used it meanwhile. Calling it again changes nothing.
   */
  release(isUsed: boolean): Promise<void>;
}

/** Files by the SHA-256 of their bytes. Equal bytes are stored once. */
export interface AssetStore {
  /**
   * Reads, checks (type by content, full decode of images within the limits) and hashes a file. Until `keep`, no file of the
   * store is made or changed. Streams are held in a temporary file, bytes in memory.
   *
   * @throws MediaError when the content is refused; StorageError when it cannot be written; whatever `source` throws
   */
  stage(source: Uint8Array | AsyncIterable<Uint8Array>, options: PutOptions): Promise<StagedFile>;
  /**
   * Stages a file and keeps it: to a temporary name, flushed, renamed, so that a crash leaves a whole file or none.
   *
   * @throws MediaError when the content is refused; StorageError when it cannot be written; whatever `source` throws
   */
  put(source: Uint8Array | AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredFile>;
  /** The stored file as a lazily read Blob (`slice` for ranges), or undefined when it is not there. */
  open(file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">): Promise<Blob | undefined>;
  /** Removes what a crash left half-written. @returns how many files */
  removeTemporary(): Promise<number>;
}

/** The content is not what is asked for: not a media file, of another kind, too large, damaged, or beyond the decode limits. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  constructor(
    readonly reason: "unrecognised" | "wrong_kind" | "too_large" | "too_many_pixels" | "damaged" | "empty",
    /** Safe to show the caller; a clause to put after the field's name. */
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
