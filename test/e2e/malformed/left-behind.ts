import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** All that a refused request must leave as it was. */
export interface LeftBehind {
  /** Rows of every table but those of the search, which is filled some time after the tasks. */
  readonly rows: Readonly<Record<string, number>>;
  readonly balanceMicros: number;
  readonly heldMicros: number;
  /** Paths of all files but the database's. */
  readonly files: readonly string[];
}

type Row = Readonly<Record<string, number>>;

/** Kept open: reading the tables' definitions takes longer than counting their rows. */
const databases = new Map<string, Database>();

export function leftBehind(dataDir: string): LeftBehind {
  const db = databases.getOrInsertComputed(dataDir, () => openDatabase(dataDir));
  const tables = db.query<{ name: string }, []>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
       AND name NOT LIKE 'task_search%' AND name <> 'search_state' ORDER BY name`,
  );
  const counts = tables.all().map(({ name }) => `(SELECT count(*) FROM "${name}") AS "${name}"`);
  const rows = db.query<Row, []>(`SELECT ${counts.join(", ")}`).get() ?? {};
  const money = db
    .query<Row, []>("SELECT total(balance_micros) AS balance, total(held_micros) AS held FROM account")
    .get();
  return { rows, balanceMicros: money?.balance ?? 0, heldMicros: money?.held ?? 0, files: filesIn(dataDir) };
}

const openDatabase = (dataDir: string) => new Database(join(dataDir, "svc.db"), { readonly: true });

function filesIn(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("svc.db"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
