import { builtInMigrations } from "../sqlite/built-in.ts" with { type: "macro" };
import type { Migration } from "../sqlite/built-in.ts";

/**
 * Every migration of PostgreSQL, in order. They have the numbers and names of those of SQLite. The first makes what those up to its
 * number make.
 */
export const MIGRATIONS: readonly Migration[] = builtInMigrations("postgres");
