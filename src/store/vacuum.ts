import { dirname } from "node:path";
import { openDatabase } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";

/**
 * Writes a database anew without its free pages. Nobody else may use it. Needs twice its size on its disk meanwhile: once for the new
 * pages and once for the write-ahead log that brings them into the file. A kill, or a full disk, leaves it as it was.
 *
 * @throws StorageError when it cannot be written, or somebody uses it
 */
export function vacuumDatabase({ path }: { path: string }): void {
  const db = openDatabase(path);
  try {
    translating(() => {
      // The new pages are not kept in memory, and not on the disk of /tmp, which is often small.
      db.run("pragma temp_store = file");
      db.run(`pragma temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`);
      try {
        db.run("vacuum");
      } finally {
        db.run("pragma temp_store_directory = ''");
      }
      db.query("pragma wal_checkpoint(truncate)").get();
    });
  } finally {
    db.stop();
  }
}
