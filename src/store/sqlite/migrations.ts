import { builtInMigrations } from "./built-in.ts" with { type: "macro" };
import type { Migration } from "./built-in.ts";
import { builtInSchema } from "./built-in-schema.ts" with { type: "macro" };

/** Every migration, in order. */
export const MIGRATIONS: readonly Migration[] = builtInMigrations("sqlite");

/** Statements that make of an empty database what all of them make of it, in an eighth of the time. */
export const SCHEMA: string = builtInSchema();
