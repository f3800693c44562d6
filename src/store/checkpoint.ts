import { statSync } from "node:fs";
import { LONG_LOG_BYTES } from "./sqlite/checkpoints.ts";
import { openDatabase } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";

const LOOK_AGAIN_MS = 50;
/** A server looks each second whether it can empty its log. */
const EMPTIED_WITHIN_MS = 3_000;

/**
 * Copies the write-ahead log of a database into its file and empties it. No commit is lost, even if the process is killed at
 * any point.
 *
 * @throws StorageError when it cannot be written, or while another process reads it
 */
export function emptyLog({ path }: { readonly path: string }): void {
  const db = openDatabase(path);
  try {
    translating(() => {
      const state = db.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get();
      if (state?.busy !== 0) throw new Error("Another process reads the database.");
    });
  } finally {
    db.stop();
  }
}

/**
 * Copies of the log what no reader keeps from being copied. Writers and readers go on meanwhile.
 *
 * @throws StorageError when it cannot be read or written
 */
export function copyLog({ path }: { readonly path: string }): void {
  const db = openDatabase(path);
  try {
    translating(() => db.query("pragma wal_checkpoint(passive)").get());
  } finally {
    db.stop();
  }
}

/**
 * Waits until a server has emptied a log that an earlier reader made long, but not forever. Who reads for long, again and again, would
 * otherwise have it grow as long as that goes on.
 */
export async function untilLogIsShort({ path }: { readonly path: string }): Promise<void> {
  for (let waitedMs = 0; waitedMs < EMPTIED_WITHIN_MS; waitedMs += LOOK_AGAIN_MS) {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (log === undefined || log.size <= LONG_LOG_BYTES) return;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}
