import type { AccountId, FileId } from "../ids.ts";
import type { StoredFile } from "./asset.ts";

/** A file that an account uploaded before any task. What is made of it is a copy of its own, so it may go at any time. */
export interface UploadedFile extends StoredFile {
  readonly id: FileId;
  readonly accountId: AccountId;
  /** What its owner calls it. */
  readonly name?: string | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** No read finds it from then on, in epoch milliseconds. */
  readonly expiresAt: number;
}

/** What an account may have uploaded at one time. */
export interface UploadBounds {
  readonly files: number;
  readonly bytes: number;
}
