import { createAudit } from "../postgres/audit.ts";
import type { Connection } from "../postgres/connection.ts";
import type { Driver } from "../postgres/driver.ts";
import { asRows, given } from "../postgres/given-rows.ts";
import { tryLock } from "../postgres/locks.ts";
import { applyMigrations } from "../postgres/migrate.ts";
import { movedAwayTo } from "../postgres/moved-away.ts";
import { type Session, statement } from "../postgres/session.ts";
import { MoveError, type Progress, type Target, type Uncounted } from "./places.ts";
import { rowsIn } from "./postgres-rows.ts";
import { countRows, refuseServed } from "./postgres-state.ts";
import { IDEMPOTENCY, type MovedRow, type MovedTable, type Place } from "./tables.ts";

/** The row that names the source of the rows. It is marked done when everything has arrived. */
const WHOLE = "";

interface ProgressRow {
  readonly last_key: string | null;
  readonly rows: number;
  readonly is_done: 0 | 1;
}

const PROGRESS = statement<ProgressRow, [name: string]>(
  "select last_key, rows, is_done from move_progress where name = $1",
);
const BEGIN = statement<never, [source: string]>(
  `insert into move_progress (name, last_key, rows, is_done) values ('${WHOLE}', $1, 0, 0)`,
);
const NOTE = statement<
  never,
  [name: string, place: string | null, rows: number, done: number, before: string | null, rowsBefore: number]
>(
  `insert into move_progress (name, last_key, rows, is_done) values ($1, $2, $3, $4)
   on conflict (name) do update set last_key = excluded.last_key, rows = excluded.rows, is_done = excluded.is_done
   where move_progress.last_key is not distinct from $5::text and move_progress.rows = $6::bigint and move_progress.is_done = 0`,
);
const FORGET_SEALS = statement("delete from audit_seal");
const FINISH = statement(`update move_progress set is_done = 1 where name = '${WHOLE}'`);
const UNCOUNTED = statement<never, [from: number, until: number]>(
  "insert into uncounted_time (from_at, until_at) values ($1, $2) on conflict (from_at) do nothing",
);
/** Numbers that the database assigns continue after the existing ones. */
const COUNT_ON = statement(
  `do $$ declare each record; begin
     for each in select attrelid::regclass as of, attname as name from pg_attribute
       where attidentity <> '' and attrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
     loop
       execute format('select setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 1), max(%I) is not null) from %s',
         each.of, each.name, each.name, each.name, each.of);
     end loop;
     perform setval('task_change_number', greatest(max(abs(change)), 1), coalesce(max(abs(change)) > 0, false)) from task;
   end $$`,
);

/** Stores the rows of a database in an empty PostgreSQL database. @throws SchemaError, StorageError */
export async function openPostgresTarget(connection: Connection): Promise<Target> {
  const { driver, read } = connection;
  await applyMigrations(driver);
  return {
    begin: (source, tables) => inOne(driver, (session) => begin(session, source, tables)),
    progress: (table) => read((session) => progressOf(session, table.name)),
    put: (table, rows, before, after) => inOne(driver, (session) => put(session, table, rows, before, after)),
    count: (table) => read((session) => countRows(session, table)),
    rows: rowsIn(connection),
    settle: (uncounted) => inOne(driver, (session) => settle(session, uncounted)),
    audit: () => createAudit(connection).run("full"),
    async finish() {
      await inOne(driver, (session) => FINISH.run(session));
    },
    stop: () => connection.stop(),
  };
}

/** Runs work in a transaction of its own, unless another move is running. */
async function inOne<T>(driver: Driver, work: (session: Session) => Promise<T>): Promise<T> {
  const transaction = await driver.begin();
  try {
    if (!(await tryLock(transaction, "move")))
      throw new MoveError("another", "Another move into this database runs at this moment.");
    const result = await work(transaction);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

async function begin(session: Session, source: string, tables: readonly MovedTable[]): Promise<boolean> {
  await refuseServed(session);
  const away = await movedAwayTo(session);
  if (away !== undefined)
    throw new MoveError(
      "another",
      `The rows of this database were moved to ${away}. Give an empty database.`,
    );
  const whole = await PROGRESS.get(session, WHOLE);
  if (whole !== undefined && whole.last_key !== source)
    throw new MoveError("another", "Rows of another database were moved here. Give an empty database.");
  if (whole !== undefined) return whole.is_done === 1;
  for (const { name } of tables) {
    const { rows } = await session.ask(`select 1 as found from "${name}" limit 1`, []);
    if (rows.length > 0)
      throw new MoveError("not_empty", `The database has rows in ${name}. Give an empty database.`);
  }
  // Of rows that were here once.
  await FORGET_SEALS.run(session);
  await BEGIN.run(session, source);
  return false;
}

async function progressOf(session: Session, name: string): Promise<Progress> {
  const row = await PROGRESS.get(session, name);
  if (row === undefined) return { place: undefined, rows: 0, isDone: false };
  return { place: placeIn(row.last_key), rows: row.rows, isDone: row.is_done === 1 };
}

const placeIn = (text: string | null) => (text === null ? undefined : (JSON.parse(text) as Place));
const textOf = (place: Place | undefined) => (place === undefined ? null : JSON.stringify(place));

async function put(
  session: Session,
  table: MovedTable,
  rows: readonly MovedRow[],
  before: Progress,
  after: Progress,
): Promise<void> {
  const noted = [textOf(after.place), after.rows, after.isDone ? 1 : 0] as const;
  if ((await NOTE.run(session, table.name, ...noted, textOf(before.place), before.rows)) !== 1)
    throw new MoveError("another", "Another move into this database has gone on meanwhile.");
  if (rows.length === 0) return;
  refuseUnstorable(table, rows);
  await session.ask(insertionInto(table), [asRows(latest(table, rows))]);
}

/** PostgreSQL stores no zero character in a text (https://www.postgresql.org/docs/15/datatype-character.html, checked 2026-11-27). */
function refuseUnstorable(table: MovedTable, rows: readonly MovedRow[]): void {
  for (const row of rows)
    for (const { name, type } of table.columns)
      if (type === "text" && String(row[name]).includes("\0"))
        throw new MoveError(
          "unstorable",
          `PostgreSQL cannot store the zero character, which ${name} of ${table.name} has where ${table.key.map((column) => `${column} is ${row[column]}`).join(" and ")}.`,
        );
}

/** One statement may not write a record twice. */
function latest(table: MovedTable, rows: readonly MovedRow[]): readonly MovedRow[] {
  if (table.name !== IDEMPOTENCY) return rows;
  return [...new Map(rows.map((row) => [row.digest, row])).values()];
}

function insertionInto(table: MovedTable): string {
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const types = Object.fromEntries(
    table.columns.map(({ name, type }) => [name, type === "integer" ? "bigint" : "text"]),
  );
  const values = table.columns.map(({ name, type }) =>
    type === "blob" ? `unhex(given."${name}")` : `given."${name}"`,
  );
  const again = `on conflict (digest) do update set fingerprint = excluded.fingerprint, task_id = excluded.task_id,
    held_micros = excluded.held_micros, expires_at = excluded.expires_at`;
  return `insert into "${table.name}" (${names}) select ${values.join(", ")} from ${given("$1", types)}
    ${table.name === IDEMPOTENCY ? again : ""}`;
}

async function settle(session: Session, uncounted: Uncounted | undefined): Promise<void> {
  if (uncounted !== undefined) await UNCOUNTED.run(session, uncounted.fromAt, uncounted.untilAt);
  await COUNT_ON.run(session);
  // The planner needs statistics about the new contents of the tables.
  await session.ask("analyze", []);
}
