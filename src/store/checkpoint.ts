import type { Database } from "bun:sqlite";
import { LONG_LOG_FRAMES } from "./sqlite/checkpoints.ts";
import { openDatabase } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";

const LOOK_AGAIN_MS = 50;
/** A server looks each second whether it can copy all of its log. */
const COPIED_WITHIN_MS = 3_000;

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

/** Whether the database has a log: then somebody writes to it, or was killed. */
export function hasLog(db: Database): boolean {
  return translating(() => (prepareLook(db).get()?.log ?? 0) > 0);
}

const prepareLook = (db: Database) =>
  db.prepare<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(noop)");

/**
 * Returns a function that waits until a server has copied a log that an earlier reader made long, but not forever. Who reads for long, again
 * and again, would otherwise have it grow as long as that goes on. Of a connection that reads nothing meanwhile; it may be called often. Where
 * it waited in vain, since another reader stays, it does not wait again until the log was short.
 *
 * @throws StorageError when the database cannot be read
 */
export function createLogWait(db: Database, mostMs = COPIED_WITHIN_MS): () => Promise<void> {
  const look = prepareLook(db);
  let isInVain = false;
  const isShort = () => {
    const state = translating(() => look.get());
    return state === null || state.log <= LONG_LOG_FRAMES || state.checkpointed === state.log;
  };
  return async () => {
    for (let waitedMs = 0; !isShort(); waitedMs += LOOK_AGAIN_MS) {
      isInVain ||= waitedMs >= mostMs;
      if (isInVain) return;
      await Bun.sleep(LOOK_AGAIN_MS);
    }
    isInVain = false;
  };
}
