import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * One row, with `id` 1: the prompts of tasks up to this row number are in `task_search`. That is a table of FTS5, which drizzle knows nothing
 * of; the migration that makes it says what it has. Rows of both tables have the same numbers: a task's row never goes.
 */
export const searchState = sqliteTable("search_state", {
  id: integer().primaryKey(),
  indexedTo: integer("indexed_to").notNull(),
});
