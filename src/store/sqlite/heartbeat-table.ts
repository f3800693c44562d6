import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** One row, with `id` 1: when the service was last known to work. Written every few seconds while tasks are live. */
export const heartbeat = sqliteTable("heartbeat", {
  id: integer().primaryKey(),
  at: integer().notNull(),
});
