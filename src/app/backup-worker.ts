import { existsSync } from "node:fs";
import type { MadeBackup } from "../backup/write.ts";
import { giveWay } from "../toolkit/low-priority.ts";
import { isSystemError, systemMessage } from "../toolkit/system-error.ts";
import type { BucketPlace } from "./backup-places.ts";
import { type BackupOrder, makeBackup, makeBackupInBucket } from "./make-backup.ts";

declare const self: Worker;

/** The backup that the thread must make. */
export interface ScheduledBackup extends BackupOrder {
  /** A folder, or a place in a bucket. */
  readonly to: string | BucketPlace;
  readonly keep: number;
}

/** What became of it. */
export type BackupResult =
  | {
      readonly kind: "done";
      readonly path: string;
      readonly files: number;
      readonly bytes: number;
      readonly copiedBytes: number;
      readonly missing: number;
      readonly removed: number;
    }
  | { readonly kind: "failed"; readonly message: string };

/** Requests come first. Sets the priority of this thread only, on systems where threads have priorities. */
const NICENESS = 10;

// Entry point of a thread that makes one backup.
self.onmessage = async ({ data }: MessageEvent<ScheduledBackup>): Promise<void> => {
  giveWay(NICENESS);
  self.postMessage(await answer(data));
};

async function answer(order: ScheduledBackup): Promise<BackupResult> {
  try {
    const { path, files, sizeBytes, copiedBytes, missing, removed } = await make(order);
    const counts = { missing: missing.length, removed: removed.length };
    return { kind: "done", path, files, bytes: sizeBytes, copiedBytes, ...counts };
  } catch (error) {
    return { kind: "failed", message: messageOf(error) };
  }
}

async function make({
  to,
  ...order
}: ScheduledBackup): Promise<MadeBackup & { readonly removed: readonly string[] }> {
  if (typeof to !== "string") return await makeBackupInBucket({ ...order, place: to });
  // If this created the folder, the backup would fill the wrong disk when another one was to be mounted there.
  if (existsSync(to)) return await makeBackup({ ...order, to });
  throw new Error(`The folder ${to} is not there. Make it, or mount its disk.`);
}

function messageOf(error: unknown): string {
  if (isSystemError(error)) return systemMessage(error);
  return error instanceof Error ? error.message : String(error);
}
