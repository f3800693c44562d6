import { builtInMigrations } from "../sqlite/built-in.ts" with { type: "macro" };
import type { Migration } from "../sqlite/built-in.ts";

/**
 * Every migration of PostgreSQL, in order. They have the numbers and names of those of SQLite, but for what one of the two databases
 * alone needs. The first makes what SQLite's up to its number make.
 */
export const MIGRATIONS: readonly Migration[] = builtInMigrations("postgres");
