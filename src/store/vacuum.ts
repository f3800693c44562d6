import { openDatabase } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { withTemporaryFiles } from "./sqlite/temporary-files.ts";

/**
 * Rewrites a database without its free pages. Nobody else may use it. Meanwhile it needs twice the database's size on its disk:
 * once for the new pages and once for the write-ahead log that moves them into the file. A kill, or a full disk, leaves it as
 * it was.
 *
 * @throws StorageError when it cannot be written, or somebody uses it
 */
export function vacuumDatabase({ path }: { path: string }): void {
  const db = openDatabase(path);
  try {
    translating(() => {
      withTemporaryFiles(db, () => db.run("vacuum"));
      db.query("pragma wal_checkpoint(truncate)").get();
    });
  } finally {
    db.stop();
  }
}
