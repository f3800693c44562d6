import { builtInMigrations } from "./built-in.ts" with { type: "macro" };

export interface Migration {
  readonly number: number;
  /** File name without its ending: `0001_create_tables`. */
  readonly name: string;
  readonly sql: string;
}

/** Every migration, in order. */
export const MIGRATIONS: readonly Migration[] = builtInMigrations();
