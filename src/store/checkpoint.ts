import { openDatabase } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";

/**
 * Copies the write-ahead log of a database into its file and empties it. Every commit stays; a kill at any point loses none.
 *
 * @throws StorageError when it cannot be written, or somebody else reads it
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
