import type { AtHand } from "../at-hand.ts";
import type { AccountId } from "../ids.ts";
import type { MediaKind, StillType, StoredFile } from "../media/asset.ts";
import type { Size } from "../media/size.ts";
import type { MaskPaint } from "./provider.ts";

export interface PutOptions {
  /** What the file may be. */
  readonly accept: readonly MediaKind[];
  /** For all of them, or for each. */
  readonly maxBytes: number | Readonly<Record<MediaKind, number>>;
  /** Whether a provider made the file: it may then be of a type that callers cannot give. */
  readonly isOutput?: boolean | undefined;
  /**
   * Whether location and other metadata are removed before the file is stored: `true` for inputs. `"output"`: the same, but a file that its
   * maker signed (C2PA) stays as it is, because any change would void the signature.
   */
  readonly sanitize: boolean | "output";
  /** What a still picture is stored as: one of another type is made anew, without metadata. A drawing or a GIF stays what it is. */
  readonly storedAs?: StillType | undefined;
  /** The file cannot be fetched again, so the store waits for minutes if the file store is not reachable. */
  readonly isOnlyCopy?: boolean | undefined;
  /** Whose file it is. Accounts take turns where files wait to be decoded. */
  readonly owner?: AccountId | undefined;
}

/** What a reader over HTTP wants: the whole file, a part of it, or only what is known about it. */
export type Wanted = "whole" | "part" | "nothing";

/** How a reader gets a file. */
export type Delivery =
  | { readonly kind: "content"; readonly content: Blob }
  /** The whole file. If the bytes turn out not to be the file's, the stream ends with an error before it is complete. */
  | { readonly kind: "stream"; readonly stream: ReadableStream<Uint8Array> }
  /** The reader wanted no content, and the file is there. */
  | { readonly kind: "present" }
  /** The file is at this address, which expires. A cache may keep the redirect for `maxAgeSec`. */
  | { readonly kind: "elsewhere"; readonly url: string; readonly maxAgeSec: number };

/** A file that was read, checked and hashed, but is not stored yet. Every one must be released, whatever happens. */
export interface StagedFile {
  readonly file: StoredFile;
  /**
   * Stores the file so that it survives a crash. Calling it again changes nothing.
   *
   * @throws StorageError when it cannot be written
   */
  keep(): Promise<void>;
  /**
   * Ends the staging. Unless `isUsed`, removes the file that this staging stored, except if equal content was there before or is used
   * by another staging. Calling it again changes nothing.
   */
  release(isUsed: boolean): Promise<void>;
}

/** A file that arrives in pieces, is kept in a temporary file, and is checked when it is complete. */
export interface ArrivingFile {
  /** @throws StorageError when it cannot be written; MediaError for a file that is refused by what has arrived of it */
  append(bytes: Uint8Array): Promise<void>;
  /** The SHA-256 of what has arrived. To be asked when all has. */
  sha256(): string;
  /** What has arrived so far, in pieces of this size. @throws StorageError */
  read(pieceBytes: number): AsyncIterable<Uint8Array>;
  /** Checks and hashes the file as `AssetStore.stage` does, and ends its arrival. @throws MediaError, StorageError; then it is discarded */
  stage(options: PutOptions): Promise<StagedFile>;
  /** Removes it, unless it was staged. Calling it again changes nothing. */
  discard(): Promise<void>;
}

/** How a painted picture is read as a mask. */
export interface PaintedMask {
  /** Black marks what may change, instead of white. */
  readonly isInverted: boolean;
  /** Radius by which its edges are softened; 0 keeps them sharp. */
  readonly blurPixels: number;
  /** Size of the mask; the picture's size unless given. */
  readonly size?: Size | undefined;
}

/** Files by the SHA-256 of their bytes. Equal bytes are stored once. */
export interface AssetStore {
  /**
   * Reads, checks (type by content, full decode of images within the limits) and hashes a file. Changes no stored file before
   * `keep`. Holds a stream of more than a few kilobytes in a temporary file, and bytes in memory. The sender of a stream may
   * reuse a piece as soon as the next piece is requested.
   *
   * @throws MediaError when the content is refused; StorageError when it cannot be written; whatever `source` throws
   */
  stage(source: Uint8Array | AsyncIterable<Uint8Array>, options: PutOptions): Promise<StagedFile>;
  /**
   * Begins to receive a file.
   * @param options refuse it by its beginning and its size while it arrives; without them, nothing is known about it yet
   * @throws StorageError
   */
  receive(options?: PutOptions): Promise<ArrivingFile>;
  /**
   * Stages a file and keeps it. A crash leaves a whole file or none.
   *
   * @throws MediaError when the content is refused; StorageError when it cannot be written; whatever `source` throws
   */
  put(source: Uint8Array | AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredFile>;
  /** Holds a stored file, so that nobody removes it before the hold is released. `keep` of such a file does nothing. */
  hold(file: StoredFile): Promise<StagedFile | undefined>;
  /**
   * Removes a content, unless a staging or a hold of this process has it. The caller knows that nothing refers to it. The check
   * and the start of the removal run without a pause, so nothing can come between them.
   *
   * @returns whether it is gone @throws StorageError when it cannot be removed
   */
  removeUnheld(sha256: string): Promise<boolean>;
  /**
   * Makes the stored files that are held as young as new ones. Collectors of other processes do not know what is held here, and remove
   * what no row names an hour after it was stored. Call it more often than that.
   *
   * @throws what the system says
   */
  renewHeld(): void;
  /**
   * The stored file as a Blob (`slice` for ranges), or undefined when it is not there. Its bytes are read on demand, or are in
   * memory already. A file that is stored elsewhere is fetched first and checked by its hash.
   *
   * @param options.isLazy never keeps the file in memory
   */
  open(
    file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">,
    options?: { readonly isLazy: boolean },
  ): Promise<Blob | undefined>;
  /**
   * The path of the stored file on this machine, or undefined when it is not there. A file that is stored elsewhere is fetched
   * first; the copy stays for some seconds at least.
   */
  locate(file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">): Promise<string | undefined>;
  /**
   * How a reader over HTTP gets the file, or undefined when it is not there. Takes the options of `open`.
   *
   * @param options.isSentFromHere never leads the reader elsewhere
   */
  deliver(
    file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">,
    wanted: Wanted,
    options?: { readonly isLazy: boolean; readonly isSentFromHere?: boolean },
  ): AtHand<Delivery | undefined>;
  /**
   * A mask as a grey picture, as large as before: this colour where the mask is transparent, the other one where it is opaque;
   * with `either`, white and as transparent as before. Stores nothing. It waits, as checks do, while the most pictures that may
   * be decoded at once are being decoded.
   *
   * @param owner as of PutOptions
   * @throws MediaError when it cannot be decoded
   */
  paintMask(mask: Blob, paint: MaskPaint, owner?: AccountId): Promise<Blob>;
  /**
   * The mask, as PNG, that a painted picture stands for: transparent where it is white. If the picture has transparency, its
   * opaque parts count as white. A grey counts as white from 50 % on. Stores nothing, and waits as `paintMask` does.
   *
   * @throws MediaError when it cannot be decoded
   */
  readPaintedMask(picture: Blob, how: PaintedMask, owner?: AccountId): Promise<Uint8Array>;
  /**
   * The mask for a picture that may be a mask already. A picture without transparency is read as `readPaintedMask` reads it:
   * white may change. Waits as `paintMask` does.
   *
   * @returns undefined for a picture with transparency, which is a mask as it is
   * @throws MediaError when it cannot be decoded
   */
  maskOfOpaque(picture: Blob, owner?: AccountId): Promise<Uint8Array | undefined>;
  /**
   * Removes the half-written files that a crash left.
   *
   * @param ageMs removes only files that nobody has written to for so long, because other processes store in the same folder
   * @returns how many
   */
  removeTemporary(ageMs?: number): Promise<number>;
}

/** The content cannot be used: not a media file, of another kind, too large, damaged, or beyond the decode limits. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  constructor(
    readonly reason: "unrecognised" | "wrong_kind" | "too_large" | "too_many_pixels" | "damaged" | "empty",
    /** Safe to show the caller; follows the field's name. */
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
