/*
 * Writes the migrations that changed tables need, for both databases: `bun run migrations:generate name_of_effect [--custom]`.
 * drizzle-kit compares the tables with those after the latest migration, which are in `migrations/<database>/snapshot.json`. It
 * wants a snapshot named for its migration and a journal of the migrations: it has them in a folder of its own.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { bun, ROOT, run, type Step, say } from "./steps.ts";

const MIGRATIONS = join(ROOT, "migrations");
const WORKSHOP = join(ROOT, "node_modules/.cache/migrations");
const TABLES = {
  sqlite: ["--dialect=sqlite", "--schema=./src/store/sqlite/**/*-table.ts"],
  postgres: ["--dialect=postgresql", "--schema=./src/store/postgres/tables.ts"],
} as const;
const DATABASES = ["sqlite", "postgres"] as const;
type Database = (typeof DATABASES)[number];

const [name = "", ...flags] = process.argv.slice(2);
if (!/^[a-z][a-z0-9_]+$/.test(name)) {
  say("Name the migration for its effect: bun run migrations:generate keep_families_of_tasks");
  process.exit(2);
}
// Read before any is written, so that both databases' get one number.
const latest = DATABASES.flatMap((database) => endingWith(".sql", join(MIGRATIONS, database)))
  .sort()
  .at(-1);
for (const database of DATABASES) await generate(database, latest?.slice(0, 4) ?? "0000");
await requireSuccess({
  title: "format",
  command: bun("run", "--silent", "biome", "format", "--write", "migrations"),
});

/** Writes the migration of one database, which gets the number after this one, and nothing where no table has changed. */
async function generate(database: Database, number: string): Promise<void> {
  const [kept, workshop] = [join(MIGRATIONS, database), join(WORKSHOP, database)];
  const meta = join(workshop, "meta");
  rmSync(workshop, { recursive: true, force: true });
  mkdirSync(meta, { recursive: true });
  copyFileSync(join(kept, "snapshot.json"), join(meta, `${number}_snapshot.json`));
  writeFileSync(join(meta, "_journal.json"), JSON.stringify({ entries: [{ idx: Number(number) }] }));
  const options = [...TABLES[database], `--out=${relative(ROOT, workshop)}`, `--name=${name}`, ...flags];
  const command = bun("run", "--silent", "drizzle-kit", "generate", ...options);
  await requireSuccess({ title: `migration of ${database}`, command });
  for (const file of endingWith(".sql", workshop)) {
    copyFileSync(join(workshop, file), join(kept, file));
    copyFileSync(join(meta, `${file.slice(0, 4)}_snapshot.json`), join(kept, "snapshot.json"));
  }
}

function endingWith(ending: string, folder: string): string[] {
  return readdirSync(folder).filter((file) => file.endsWith(ending));
}

async function requireSuccess(step: Step): Promise<void> {
  const exitCode = await run(step);
  if (exitCode !== 0) process.exit(exitCode);
}
