import type { AccountId, FileId } from "../ids.ts";
import type { StoredFile } from "./asset.ts";

/**
 * A file that an account uploaded before any task. A task that uses it gets its own copy, so the file may be removed at any
 * time.
 */
export interface UploadedFile extends StoredFile {
  readonly id: FileId;
  readonly accountId: AccountId;
  /** What its owner calls it. */
  readonly name?: string | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** From this time on no read finds it, in epoch milliseconds. */
  readonly expiresAt: number;
}

/** What an account may have uploaded at one time. */
export interface UploadBounds {
  readonly files: number;
  readonly bytes: number;
}
