import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readDatabase } from "../support/database.ts";

/** All that a refused request must leave as it was. */
export interface LeftBehind {
  /** Rows of every table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly balanceMicros: number;
  readonly heldMicros: number;
  /** Paths of all files but the database's. */
  readonly files: readonly string[];
}

export function leftBehind(dataDir: string): LeftBehind {
  const tables = readDatabase<{ name: string }>(
    dataDir,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM "${name}") AS "${name}"`);
  const [rows = {}] = readDatabase<Record<string, number>>(dataDir, `SELECT ${counts.join(", ")}`);
  const [money] = readDatabase<{ balance: number; held: number }>(
    dataDir,
    "SELECT total(balance_micros) AS balance, total(held_micros) AS held FROM account",
  );
  return { rows, balanceMicros: money?.balance ?? 0, heldMicros: money?.held ?? 0, files: filesIn(dataDir) };
}

function filesIn(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("svc.db"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
