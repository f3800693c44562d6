/*
 * Runs while the calling code is transpiled or bundled, never at run time: the result becomes part of that code. So the executable
 * has every migration in the folder, though it cannot read folders.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Migration {
  readonly number: number;
  /** File name without its ending: `0001_create_tables`. */
  readonly name: string;
  readonly sql: string;
}

/** Every file in the folder of a database in `migrations/`, in order. */
export function builtInMigrations(database: "sqlite" | "postgres"): readonly Migration[] {
  const folder = join(import.meta.dir, "../../../migrations", database);
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  return files.sort().map((file) => ({
    number: Number(file.slice(0, 4)),
    name: file.slice(0, -".sql".length),
    sql: readFileSync(join(folder, file), "utf8"),
  }));
}
