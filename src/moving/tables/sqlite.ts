import { Database } from "bun:sqlite";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isSystemError, reasonOf } from "../../toolkit/system-error.ts";
import type { Row } from "../fields.ts";
import { UnreadableSource } from "../holdings.ts";
import type { PageQuery, Tables } from "./tables.ts";

const MAGIC = "SQLite format 3\0";
/** https://www.sqlite.org/fileformat2.html#the_database_header (read 2026-11). */
const HEADER_BYTES = 100;

/** Opens a file of SQLite, and changes nothing in it. @throws UnreadableSource for what is none, or is not whole */
export function openSqlite(path: string): Tables {
  checkHeader(path);
  const db = opened(path);
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  return {
    name: path,
    async columns(table) {
      return guarded(path, () => {
        const found = db
          .query<{ name: string }, [string]>("select name from pragma_table_info(?)")
          .all(table);
        return new Set(found.map(({ name }) => name));
      });
    },
    async page({ table, columns, by, after, limit }: PageQuery) {
      const where = after === undefined ? "" : ` where ${quoted(by)} > ?`;
      const order = ` order by ${quoted(by)} limit ${limit}`;
      const text = `select ${columns.map(quoted).join(", ")} from ${quoted(table)}${where}${order}`;
      return guarded(path, () =>
        db.query<Row, (string | number)[]>(text).all(...(after === undefined ? [] : [after])),
      );
    },
    async stop() {
      db.close();
    },
  };
}

function checkHeader(path: string): void {
  const head = Buffer.alloc(HEADER_BYTES);
  let size = 0;
  try {
    const file = openSync(path, "r");
    try {
      readSync(file, head, 0, head.length, 0);
      ({ size } = fstatSync(file));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error)) throw new UnreadableSource(`${path} cannot be read: ${reasonOf(error)}.`);
    throw error;
  }
  if (head.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new UnreadableSource(`${path} is no database of SQLite. Load a dump into a database first.`);
  if (size < pagesBytes(head)) throw notWhole(path);
}

/** How long the file must be at least. Versions before 3.7 do not say. */
function pagesBytes(head: Buffer): number {
  const pageBytes = head.readUInt16BE(16);
  const isTold = head.readUInt32BE(24) === head.readUInt32BE(92);
  // 65,536 does not fit there, and stands there as 1.
  return isTold ? head.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes) : 0;
}

function notWhole(path: string): UnreadableSource {
  return new UnreadableSource(`${path} is damaged or not whole. Copy it again, with the gateway stopped.`);
}

function opened(path: string): Database {
  return guarded(path, () => {
    const db = new Database(path, { readonly: true });
    // Half of a file has pages that lead nowhere.
    const found = db.query<{ quick_check: string }, []>("pragma quick_check(1)").get()?.quick_check;
    if (found === "ok") return db;
    db.close();
    throw notWhole(path);
  });
}

function guarded<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableSource) throw error;
    const message = `${path} cannot be read: ${reasonOf(error)}. Copy it again, with the gateway stopped.`;
    throw new UnreadableSource(message, { cause: error });
  }
}
