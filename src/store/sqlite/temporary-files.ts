import type { Database } from "bun:sqlite";
import { dirname } from "node:path";

/**
 * Runs work that needs as much temporary space as the database has, such as `vacuum`. The space is taken neither from memory nor
 * from the disk of /tmp, which is often small, but beside the database. Call it outside of transactions.
 */
export function withTemporaryFiles<T>(db: Database, work: () => T): T {
  if (db.filename === ":memory:") return work();
  db.run("pragma temp_store = file");
  // Holds for the whole process. It is deprecated, and nothing else says it for less than that.
  db.run(`pragma temp_store_directory = '${dirname(db.filename).replaceAll("'", "''")}'`);
  try {
    return work();
  } finally {
    db.run("pragma temp_store_directory = ''");
    db.run("pragma temp_store = memory");
  }
}
