import type { AccountId, FileId } from "../ids.ts";
import type { UploadBounds, UploadedFile } from "../media/uploaded-file.ts";

/** What became of a file that was to be recorded. */
export type UploadAdded =
  | { readonly kind: "added" }
  /** Its id, or the beginning that no other may have, is in use, by this file. */
  | { readonly kind: "taken"; readonly by: UploadedFile }
  /** The account would have more than its bounds. `used`: what it has. */
  | { readonly kind: "full"; readonly used: UploadBounds };

/** Contents, by their SHA-256, that nothing needs any more. Their files are the caller's to remove. */
type Unneeded = readonly string[];

export interface UploadPage {
  /** Newest first. */
  readonly files: readonly UploadedFile[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: UploadPlace | undefined;
}

/** A file's place among those of its account. */
export interface UploadPlace {
  readonly createdAt: number;
  readonly id: FileId;
}

/**
 * Files that accounts upload before any task. Every method is one transaction, durable before its promise resolves. Throws
 * `StorageError`. Their contents are kept and held by the caller, as those of assets are.
 */
export interface UploadStore {
  /**
   * Records a file within the bounds of its account. Of a refused one nothing changes.
   * @param beginning of its id, which no other file's id may have
   */
  add(file: UploadedFile, most: UploadBounds, beginning?: string): Promise<UploadAdded>;
  /** Also one that has expired and is not removed yet. */
  byId(id: FileId): Promise<UploadedFile | undefined>;
  /** The files that have a content, those too that have expired and are not removed yet: the first 1,000, as they were added. */
  ofContent(sha256: string): Promise<FileId[]>;
  /**
   * One page of an account's files, those too that have expired and are not removed yet.
   *
   * @param query.account all accounts' unless given
   * @param query.after `next` of the page before
   */
  page(query: {
    readonly account?: AccountId | undefined;
    readonly limit: number;
    readonly after?: UploadPlace | undefined;
  }): Promise<UploadPage>;
  /** @param owner whose it must be @returns undefined when there is no such file */
  remove(id: FileId, owner: AccountId): Promise<Unneeded | undefined>;
  /** Removes some files that have expired, the first to expire first. */
  expire(now: number, limit: number): Promise<{ readonly files: number; readonly contents: Unneeded }>;
  /** Removes some files of an account. */
  removeOf(
    account: AccountId,
    limit: number,
  ): Promise<{ readonly files: number; readonly contents: Unneeded }>;
}
