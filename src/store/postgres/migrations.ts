import { builtInMigrations } from "../sqlite/built-in.ts" with { type: "macro" };
import type { Migration } from "../sqlite/built-in.ts";

/**
 * Every migration of PostgreSQL, in order. They have the same numbers and names as SQLite's, except for migrations that only
 * one of the two databases needs. The first one creates what SQLite's migrations up to its number create.
 */
export const MIGRATIONS: readonly Migration[] = builtInMigrations("postgres");
