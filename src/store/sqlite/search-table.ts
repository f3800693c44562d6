import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * One row, with `id` 1: the prompts of tasks up to this number are in `task_search`. That is a table of FTS5, which drizzle knows nothing
 * of; the migration that makes it says what it has. A task's row there has the task's number.
 */
export const searchState = sqliteTable("search_state", {
  id: integer().primaryKey(),
  indexedTo: integer("indexed_to").notNull(),
});
