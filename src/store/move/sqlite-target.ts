import type { Database, SQLQueryBindings } from "bun:sqlite";
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { openAudit } from "../audit.ts";
import { openDatabase } from "../sqlite/connection.ts";
import { translating } from "../sqlite/errors.ts";
import { applyMigrations } from "../sqlite/migrate.ts";
import { MoveError, type Progress, type Target, type Uncounted } from "./places.ts";
import { countIn } from "./sqlite-counts.ts";
import { rowsIn } from "./sqlite-rows.ts";
import { IDEMPOTENCY, type MovedRow, type MovedTable, type Place } from "./tables.ts";

/** The row that names the source of the rows. */
const WHOLE = "";

interface ProgressRow {
  readonly last_key: string | null;
  readonly rows: number;
  readonly is_done: 0 | 1;
}

/** The file has another name until all rows have arrived, so that nobody serves an incomplete database. */
export const unfinishedPath = (path: string): string => `${path}.moving`;

/**
 * Stores the rows of a database in a new file.
 *
 * @param hasLeft whether the database says that its rows are here
 * @throws MoveError `not_empty` if the file exists; StorageError
 */
export function openSqliteTarget(path: string, hasLeft = false): Target {
  // A log alone would be taken for the new database's, and its pages with it.
  const isLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const left = existsSync(path) ? path : isLog ? `${path}-wal` : undefined;
  const unfinished = unfinishedPath(path);
  if (left === path && hasLeft && !existsSync(unfinished))
    throw new MoveError(
      "not_empty",
      `All rows came to ${path} before. Serve it: svc serve --data-dir ${dirname(path)}.`,
    );
  if (left !== undefined)
    throw new MoveError("not_empty", `There is ${left}, of another database. Give a folder without one.`);
  const db = openDatabase(unfinished);
  const stop = () => {
    db.close();
  };
  try {
    translating(() => {
      applyMigrations(db);
      db.run(
        "create table if not exists move_progress (name text primary key, last_key text, rows integer not null, is_done integer not null) strict",
      );
    });
  } catch (error) {
    stop();
    throw error;
  }
  let isFinished = false;
  return {
    begin: async (source, tables) => translating(() => begin(db, source, tables)),
    progress: async ({ name }) => translating(() => progressOf(db, name)),
    put: async (table, rows, _, after) =>
      translating(() => db.transaction(() => put(db, table, rows, after)).immediate()),
    count: async (table) => translating(() => countIn(db, table)),
    rows: rowsIn(db),
    settle: async (uncounted) => translating(() => db.transaction(() => settle(db, uncounted)).immediate()),
    async audit() {
      const audit = openAudit({ path: unfinished });
      try {
        return await audit.run("full");
      } finally {
        audit.stop();
      }
    },
    async finish() {
      translating(() => {
        db.run("drop table move_progress");
        db.run("pragma wal_checkpoint(truncate)");
      });
      stop();
      isFinished = true;
      for (const end of ["-wal", "-shm"]) rmSync(`${unfinished}${end}`, { force: true });
      renameSync(unfinished, path);
    },
    async stop() {
      if (!isFinished) stop();
    },
  };
}

function begin(db: Database, source: string, tables: readonly MovedTable[]): boolean {
  const whole = progressRow(db, WHOLE);
  // All rows had arrived when `finish` was cut off before the file got its name. Whether they are these rows is compared.
  if (whole === null && tables.some(({ name }) => db.query(`select 1 from "${name}" limit 1`).get() !== null))
    return true;
  if (whole !== null && whole.last_key !== source)
    throw new MoveError(
      "another",
      "Rows of another database were moved here. Remove the unfinished file first.",
    );
  if (whole === null) db.run("insert into move_progress values (?, ?, 0, 0)", [WHOLE, source]);
  return false;
}

function progressRow(db: Database, name: string): ProgressRow | null {
  return db
    .query<ProgressRow, [string]>("select last_key, rows, is_done from move_progress where name = ?")
    .get(name);
}

function progressOf(db: Database, name: string): Progress {
  const row = progressRow(db, name);
  if (row === null) return { place: undefined, rows: 0, isDone: false };
  const place = row.last_key === null ? undefined : (JSON.parse(row.last_key) as Place);
  return { place, rows: row.rows, isDone: row.is_done === 1 };
}

function put(db: Database, table: MovedTable, rows: readonly MovedRow[], after: Progress): void {
  const { place, rows: count, isDone } = after;
  db.query("insert or replace into move_progress values (?, ?, ?, ?)").run(
    ...[table.name, place === undefined ? null : JSON.stringify(place), count, isDone ? 1 : 0],
  );
  const insert = db.query<never, SQLQueryBindings[]>(
    `insert into "${table.name}" (${table.columns.map(({ name }) => `"${name}"`).join(", ")})
     values (${table.columns.map(({ type }) => (type === "blob" ? "unhex(?)" : "?")).join(", ")})`,
  );
  for (const row of rows) insert.run(...table.columns.map(({ name }) => row[name] ?? null));
}

function settle(db: Database, uncounted: Uncounted | undefined): void {
  db.run("delete from idempotency_index");
  db.run(`insert into idempotency_index (digest, id) select digest, id from ${IDEMPOTENCY} order by digest`);
  db.run(`update idempotency_merge set merged_id = (select coalesce(max(id), 0) from ${IDEMPOTENCY})`);
  if (uncounted === undefined) return;
  const since = db.query<never, [at: number, number: number]>(
    "update schema_migration set applied_at = ? where number = ?",
  );
  since.run(uncounted.fromAt, 1);
  since.run(uncounted.untilAt, 2);
}
