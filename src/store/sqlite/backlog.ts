import type { Database } from "bun:sqlite";

/** A group of waiting rows. */
export interface BacklogGroup {
  readonly name: string;
  readonly count: number;
  /** Seconds since the epoch. */
  readonly oldestSec: number;
}

export interface BacklogOptions {
  readonly table: "task" | "callback";
  /** The pools in which a row waits, each with its index. */
  readonly pools: Readonly<Record<string, string>>;
  /** The properties by which rows are counted, as SQL over one row. */
  readonly group: (row: string) => string;
}

/**
 * Returns a function that tells how many rows wait and since when. No index answers this without reading all of them, so triggers of
 * this connection maintain two small tables in memory, in the transactions that change the rows. They are created at the first call,
 * so a service that nobody watches does not pay for them. Writes of another connection fire no trigger. After its commit, which
 * changes `data_version`, everything is counted again.
 */
export function prepareBacklog(db: Database, options: BacklogOptions): () => BacklogGroup[] {
  const dataVersion = db.prepare<{ data_version: number }, []>("pragma data_version");
  let read: (() => BacklogGroup[]) | undefined;
  let counted: number | undefined;
  return () => {
    const version = dataVersion.get()?.data_version;
    if (read === undefined) read = track(db, options);
    else if (version !== counted) runAll(db, [...emptyTables(options), ...contents(options)]);
    counted = version;
    return read();
  };
}

function track(db: Database, options: BacklogOptions): () => BacklogGroup[] {
  runAll(db, [...tables(options), ...triggers(options), ...contents(options)]);
  const { table } = options;
  const groups = db.prepare<BacklogGroup, []>(
    `select name, count, (select min(second) from temp.${table}_age as age where age.name = depth.name) as oldestSec
     from temp.${table}_depth as depth where count > 0 order by name`,
  );
  return () => groups.all();
}

function runAll(db: Database, statements: readonly string[]): void {
  db.transaction(() => {
    for (const statement of statements) db.run(statement);
  })();
}

function emptyTables({ table }: BacklogOptions): string[] {
  return [`delete from temp.${table}_age`, `delete from temp.${table}_depth`];
}

function tables({ table }: BacklogOptions): string[] {
  return [
    `create temp table ${table}_depth (name text primary key, count integer not null) strict, without rowid`,
    `create temp table ${table}_age (name text not null, second integer not null, count integer not null,
       primary key (name, second)) strict, without rowid`,
  ];
}

function triggers({ table, pools, group }: BacklogOptions): string[] {
  const names = Object.keys(pools).map((pool) => `'${pool}'`);
  // Null in no pool, which `in` would make null.
  const waits = (row: string) => `(coalesce(${row}.pool, '') in (${names.join(", ")}))`;
  const moved = `${waits("old")} <> ${waits("new")} or (${waits("new")} and ${group("old")} <> ${group("new")})`;
  const second = (row: string) => `${row}.created_at / 1000`;
  const enter = `
    insert into ${table}_depth select ${group("new")}, 1 where ${waits("new")}
      on conflict do update set count = count + 1;
    insert into ${table}_age select ${group("new")}, ${second("new")}, 1 where ${waits("new")}
      on conflict do update set count = count + 1;`;
  const leave = `
    update ${table}_depth set count = count - 1 where ${waits("old")} and name = ${group("old")};
    update ${table}_age set count = count - 1
      where ${waits("old")} and name = ${group("old")} and second = ${second("old")};
    delete from ${table}_age
      where ${waits("old")} and name = ${group("old")} and second = ${second("old")} and count = 0;`;
  return [
    `create temp trigger ${table}_waits after insert on main.${table} when ${waits("new")} begin ${enter} end`,
    `create temp trigger ${table}_moves after update of pool on main.${table} when ${moved} begin ${leave} ${enter} end`,
  ];
}

/** Counts the rows that wait at present. */
function contents({ table, pools, group }: BacklogOptions): string[] {
  const waiting = Object.entries(pools).map(
    ([pool, index]) =>
      `select ${group(table)} as name, created_at / 1000 as second from main.${table} indexed by ${index} where pool = '${pool}'`,
  );
  return [
    `insert into ${table}_age select name, second, count(*) from (${waiting.join(" union all ")}) group by 1, 2`,
    `insert into ${table}_depth select name, sum(count) from ${table}_age group by 1`,
  ];
}
