import { openAudit } from "../audit.ts";
import { openForReading } from "../sqlite/connection.ts";
import { translating } from "../sqlite/errors.ts";
import { requireMigrated } from "../sqlite/migrate.ts";
import type { Source, Uncounted } from "./places.ts";
import { countIn } from "./sqlite-counts.ts";
import { rowsIn } from "./sqlite-rows.ts";

/**
 * Reads the rows of a data folder's database.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export function openSqliteSource(path: string): Source {
  const db = openForReading(path);
  try {
    translating(() => requireMigrated(db));
  } catch (error) {
    db.stop();
    throw error;
  }

  function idOf(): string {
    const marks = db.query("select number, applied_at from schema_migration order by number").values();
    return new Bun.CryptoHasher("sha256").update(JSON.stringify(marks)).digest("hex");
  }

  return {
    id: translating(idOf),
    count: async (table) => translating(() => countIn(db, table)),
    rows: rowsIn(db),
    uncounted: async () =>
      translating(
        () =>
          db
            .query<Uncounted, []>(
              `select made.applied_at as fromAt, counted.applied_at as untilAt
               from schema_migration as made join schema_migration as counted on counted.number = 2
               where made.number = 1 and made.applied_at < counted.applied_at`,
            )
            .get() ?? undefined,
      ),
    async audit() {
      const audit = openAudit({ path });
      try {
        return await audit.run("full");
      } finally {
        audit.stop();
      }
    },
    stop: async () => db.stop(),
  };
}
