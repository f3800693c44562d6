import type { Stock } from "../domain/stock.ts";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { requireMigrated } from "./sqlite/migrate.ts";
import { prepareStock } from "./sqlite/stock.ts";

/**
 * Counts what a database holds. A server may use it meanwhile and is not delayed.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export function readStock({ path }: { readonly path: string }): Stock {
  const db = openForReading(path);
  try {
    return translating(() => {
      requireMigrated(db);
      // Each statement is a transaction of its own, because a long one would keep the server's log from becoming shorter.
      return prepareStock(db)();
    });
  } finally {
    db.stop();
  }
}
