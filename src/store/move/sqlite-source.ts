import type { SQLQueryBindings } from "bun:sqlite";
import { openAudit } from "../audit.ts";
import { openForReading } from "../sqlite/connection.ts";
import { translating } from "../sqlite/errors.ts";
import { requireMigrated } from "../sqlite/migrate.ts";
import type { Source, Uncounted } from "./places.ts";
import { countIn } from "./sqlite-counts.ts";
import { IDEMPOTENCY, type MovedRow, type MovedTable, placeOf, typeIn } from "./tables.ts";

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
    rows: async (table, after, limit) =>
      translating(() => {
        const key = keyOf(table);
        const query = db.query<MovedRow, SQLQueryBindings[]>(sliceOf(table, key, after !== undefined));
        const rows = query.all(...(after ?? []), limit);
        const last = rows.at(-1);
        return { rows, place: last && placeOf(key, last) };
      }),
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

/** Records can only be found by their number. */
const keyOf = ({ name, key }: MovedTable): readonly string[] => (name === IDEMPOTENCY ? ["id"] : key);

function sliceOf(table: MovedTable, key: readonly string[], hasBegun: boolean): string {
  const columns = table.columns.map(({ name, type }) =>
    type === "blob" ? `lower(hex("${name}")) as "${name}"` : `"${name}"`,
  );
  const own = key.filter((name) => !table.columns.some((column) => column.name === name));
  const names = key.map((name) => `"${name}"`).join(", ");
  const values = key.map((name) => (own.includes(name) || typeIn(table, name) !== "blob" ? "?" : "unhex(?)"));
  return `select ${[...columns, ...own].join(", ")} from "${table.name}"
    ${hasBegun ? `where (${names}) > (${values.join(", ")})` : ""} order by ${names} limit ?`;
}
