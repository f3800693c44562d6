import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { TaskId } from "../../../domain/ids.ts";

export const idempotency = sqliteTable("idempotency", {
  id: integer().primaryKey(),
  /** Of key id, endpoint and key; see idempotency.ts. */
  digest: blob({ mode: "buffer" }).notNull(),
  fingerprint: text().notNull(),
  taskId: text("task_id").$type<TaskId>().notNull(),
  heldMicros: integer("held_micros").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Finds each record by its digest; WITHOUT ROWID. Records after `idempotency_merge.merged_id` may be missing. */
export const idempotencyIndex = sqliteTable("idempotency_index", {
  digest: blob({ mode: "buffer" }).primaryKey(),
  id: integer().notNull(),
});

/** One row: all records up to this one are in `idempotency_index`. */
export const idempotencyMerge = sqliteTable("idempotency_merge", {
  mergedId: integer("merged_id").notNull(),
});
