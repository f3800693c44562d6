import { Database } from "bun:sqlite";
import { TypeID } from "typeid-js";

type Value = string | number | null | Uint8Array;
type Row = Record<string, Value>;

const MONTH_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Adds copies of one finished task, with all rows that belong to it, to the database of a stopped service: new identifiers,
 * spread over the last thirty days, the account's balance moved along. Rows are copied column by column, so that they are
 * what the service itself writes, whatever its tables are.
 *
 * @param template a completed task in that database
 * @returns identifiers of some of the copies, evenly spread
 */
export function seedFinishedTasks(
  path: string,
  options: { template: string; count: number; sample: number },
): string[] {
  const { template, count, sample } = options;
  const db = new Database(path, { readwrite: true, strict: true });
  try {
    db.run("pragma synchronous = off");
    const number = numberOf(db, template);
    const copyTask = prepareCopy(db, "task", number);
    const copies = ["attempt", "ledger_entry", "asset"].map((table) => prepareCopy(db, table, number));
    const startAt = Date.now() - MONTH_MS;
    const taken: string[] = [];
    db.transaction(() => {
      for (let i = 0; i < count; i++) {
        const at = startAt + Math.floor((i / count) * MONTH_MS);
        const id = newId("task", at);
        const task = copyTask(id, at);
        for (const copy of copies) copy(task, at);
        if (i % Math.ceil(count / sample) === 0) taken.push(id);
      }
      settle(db, template, count);
    }).immediate();
    db.query("pragma wal_checkpoint(truncate)").get();
    return taken;
  } finally {
    db.close();
  }
}

/** Returns a function that copies the template's rows of one table for a new task. @returns the number of the last copy */
function prepareCopy(
  db: Database,
  table: string,
  template: number,
): (task: string | number, at: number) => number {
  const [own, key] =
    table === "task" ? (["number", "id"] as const) : (["task_number", "task_number"] as const);
  const rows = db.query<Row, [number]>(`select * from ${table} where ${own} = ?`).all(template);
  const first = rows[0];
  if (first === undefined) throw new Error(`${template} has no row in ${table} to copy.`);
  // A row number is left to the database.
  const isRowNumber = (name: string) => name === "number" || (name === "id" && typeof first.id === "number");
  const columns = Object.keys(first).filter((name) => !isRowNumber(name));
  const insert = db.prepare(
    `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
  );
  const createdAt = createdAtOf(db, template);
  return (task, at) => {
    let last = 0;
    for (const row of rows) {
      const values = columns.map((name) => copied(name, row[name] ?? null, { task, at, key, createdAt }));
      last = Number(insert.run(...values).lastInsertRowid);
    }
    return last;
  };
}

function copied(
  name: string,
  value: Value,
  to: { task: string | number; at: number; key: string; createdAt: number },
): Value {
  if (name === to.key) return to.task;
  if (name === "id" || name === "request_id") return newId(String(value).split("_", 1)[0] ?? "", to.at);
  const isTime = name === "at" || name.endsWith("_at");
  return isTime && typeof value === "number" ? value - to.createdAt + to.at : value;
}

function numberOf(db: Database, template: string): number {
  const row = db.query<{ number: number }, [string]>("select number from task where id = ?").get(template);
  if (row === null) throw new Error(`There is no task ${template}.`);
  return row.number;
}

function createdAtOf(db: Database, template: number): number {
  const row = db
    .query<{ created_at: number }, [number]>("select created_at from task where number = ?")
    .get(template);
  if (row === null) throw new Error(`There is no task ${template}.`);
  return row.created_at;
}

/** At rest, an account's balance is the sum of its ledger, and its usage what its tasks come to. */
function settle(db: Database, template: string, count: number): void {
  db.query(
    `update account set balance_micros = balance_micros + ?2 *
       (select sum(balance_delta_micros) from ledger_entry where task_number = (select number from task where id = ?1))
     where number = (select account_number from task where id = ?1)`,
  ).run(template, count);
  db.run("delete from usage_day");
  db.run(
    `insert into usage_day (account_id, day, key_id, model, completed, failed, cancelled, outputs, charged_micros)
     select (select id from account where number = account_number), completed_at / 86400000,
       (select text from label where number = key_label), (select text from label where number = model_label), count(*) filter (where status = 'completed'),
       count(*) filter (where status = 'failed'), count(*) filter (where status = 'cancelled'),
       coalesce(sum(json_array_length(results)), 0), coalesce(sum(charged_micros), 0)
     from task where stage = 'terminal' group by 1, 2, 3, 4`,
  );
}

function newId(prefix: string, at: number): string {
  const bytes =
    prefix === "asset" ? crypto.getRandomValues(new Uint8Array(16)) : Bun.randomUUIDv7("buffer", at);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}
