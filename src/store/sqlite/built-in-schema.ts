/*
 * Runs while the calling code is transpiled or bundled, never at run time, as `built-in.ts` does.
 */
import { Database } from "bun:sqlite";
import { builtInMigrations } from "./built-in.ts";
import { applySteps, isInSteps } from "./migrate-steps.ts";

/** Statements that create in a new database what all migrations together create: tables, indexes, triggers, rows. */
export function builtInSchema(): string {
  const db = new Database(":memory:");
  for (const migration of builtInMigrations("sqlite")) {
    if (isInSteps(migration)) applySteps(db, migration, () => {});
    else db.run(migration.sql);
  }
  const made = db
    .query<{ name: string; sql: string; kind: string | null }, []>(
      `select made.name, made.sql, listed.type as kind
       from sqlite_schema as made left join pragma_table_list as listed on listed.name = made.name
       where made.sql is not null order by made.rowid`,
    )
    .all();
  const named = (kind: string) => made.filter((each) => each.kind === kind).map(({ name }) => name);
  const statements = [
    // An index of words makes its own tables.
    ...made.filter(({ kind }) => kind !== "shadow").map(({ sql }) => sql),
    ...named("table").flatMap((name) => insertsOf(db, name)),
    ...named("virtual").flatMap((name) => settingsOf(db, name)),
  ];
  db.close();
  return statements.map((statement) => `${statement};\n`).join("");
}

function insertsOf(db: Database, table: string): string[] {
  const columns = db.query<{ name: string }, [string]>("select name from pragma_table_info(?)").all(table);
  const values = columns.map(({ name }) => `quote("${name}")`).join(" || ', ' || ");
  const rows = db.query<{ row: string }, []>(`select ${values} as row from "${table}"`).all();
  return rows.map(({ row }) => `insert into "${table}" values (${row})`);
}

/** What an index of words was told of how to keep itself. */
function settingsOf(db: Database, index: string): string[] {
  const rows = db.query<{ row: string }, []>(
    `select quote(k) || ', ' || quote(v) as row from "${index}_config" where k <> 'version'`,
  );
  return rows.all().map(({ row }) => `insert into "${index}" ("${index}", rank) values (${row})`);
}
