/*
 * Runs while the code that calls it is transpiled or bundled, and never at run time: what it returns becomes part of that code.
 * So a migration is found by lying in the folder, also by the executable, inside which no folder can be read.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every file in `migrations/sqlite/`, in order. */
export function builtInMigrations(): readonly { number: number; name: string; sql: string }[] {
  const folder = join(import.meta.dir, "../../../migrations/sqlite");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  return files.sort().map((file) => ({
    number: Number(file.slice(0, 4)),
    name: file.slice(0, -".sql".length),
    sql: readFileSync(join(folder, file), "utf8"),
  }));
}
