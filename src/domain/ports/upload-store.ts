import type { AccountId, FileId } from "../ids.ts";
import type { UploadBounds, UploadedFile } from "../media/uploaded-file.ts";

/** The outcome of recording a file. */
export type UploadAdded =
  | { readonly kind: "added" }
  /** This file already uses its id, or the beginning of the id that must be unique. */
  | { readonly kind: "taken"; readonly by: UploadedFile }
  /** The account would exceed its limits. `used`: what it has now. */
  | { readonly kind: "full"; readonly used: UploadBounds };

/** SHA-256 of contents that nothing needs any more. The caller removes their files. */
type Unneeded = readonly string[];

export interface UploadPage {
  /** Newest first. */
  readonly files: readonly UploadedFile[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: UploadPlace | undefined;
}

/** A file's position among those of its account. */
export interface UploadPlace {
  readonly createdAt: number;
  readonly id: FileId;
}

/**
 * Files that accounts upload before any task. Every method is one transaction, durable before its promise resolves. Throws
 * `StorageError`. The caller keeps and holds their contents, as for assets.
 */
export interface UploadStore {
  /**
   * Records a file within the limits of its account. If the file is refused, nothing changes.
   * @param beginning the beginning of its id, which must be unique
   */
  add(file: UploadedFile, most: UploadBounds, beginning?: string): Promise<UploadAdded>;
  /** Also finds a file that has expired but is not removed yet. */
  byId(id: FileId): Promise<UploadedFile | undefined>;
  /**
   * The files that have a content, including expired ones that are not removed yet: the first 1,000 in the order in which they
   * were added.
   */
  ofContent(sha256: string): Promise<FileId[]>;
  /**
   * One page of an account's files, including expired ones that are not removed yet.
   *
   * @param query.account files of all accounts unless given
   * @param query.after `next` of the previous page
   */
  page(query: {
    readonly account?: AccountId | undefined;
    readonly limit: number;
    readonly after?: UploadPlace | undefined;
  }): Promise<UploadPage>;
  /** @param owner the account that must own it @returns undefined when there is no such file */
  remove(id: FileId, owner: AccountId): Promise<Unneeded | undefined>;
  /** Removes some files that have expired, the first to expire first. */
  expire(now: number, limit: number): Promise<{ readonly files: number; readonly contents: Unneeded }>;
  /** Removes some files of an account. */
  removeOf(
    account: AccountId,
    limit: number,
  ): Promise<{ readonly files: number; readonly contents: Unneeded }>;
}
