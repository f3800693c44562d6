import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type {
  Callback,
  CallbackAttempt,
  CallbackEvent,
  CallbackState,
  Delivery,
} from "../../../domain/callback/callback.ts";
import type { CallbackId, KeyId } from "../../../domain/ids.ts";
import { ofAccount } from "../account-store/account-table.ts";
import { ofTask } from "../task-store/task-table.ts";

/** Where `claim` looks for a callback: `ready` to be sent · `waiting` until `due_at`. One that is over is in no pool. */
export type CallbackPool = "ready" | "waiting";

/** Most callbacks of a task: one for each percent of its progress, and a few others. */
export const MOST_OF_TASK = 110;

export const callback = sqliteTable(
  "callback",
  {
    id: text().$type<CallbackId>().primaryKey(),
    taskId: ofTask(),
    accountId: ofAccount(),
    keyId: text("key_id").$type<KeyId>().notNull(),
    requestId: text("request_id").notNull(),
    url: text().notNull(),
    host: text().notNull(),
    state: text().$type<CallbackState>().notNull(),
    pool: text().$type<CallbackPool>(),
    /** When the next attempt is due, or the one under way counts as lost. */
    dueAt: integer("due_at").notNull(),
    /** Attempts begun, at most five unless `most_attempts` says otherwise. */
    attempts: integer().notNull(),
    /** Attempts and redeliveries. */
    sends: integer().notNull(),
    /** Whether a redelivery was requested and has not begun. */
    redeliver: integer({ mode: "boolean" }).notNull(),
    createdAt: integer("created_at").notNull(),
    event: text().$type<CallbackEvent>().notNull(),
    /** `Callback.form` and `Callback.mostAttempts`; null for the default. */
    form: text(),
    mostAttempts: integer("most_attempts"),
  },
  (table) => [
    index("callback_of_task").on(table.taskId, table.createdAt, table.id),
    index("callback_ready")
      .on(table.accountId, table.host, table.dueAt, table.id)
      .where(sql`"pool" = 'ready'`),
    index("callback_waiting").on(table.dueAt).where(sql`"pool" = 'waiting'`),
    index("callback_of_account").on(table.accountId, table.createdAt, table.id),
    // Finds the few that failed among many that were delivered.
    index("callback_of_state").on(table.accountId, table.state, table.createdAt, table.id),
    // Finds those of all accounts, for operators.
    index("callback_of_time").on(table.createdAt, table.id),
    index("callback_failed").on(table.createdAt, table.id).where(sql`"state" = 'failed'`),
    check(
      "callback_attempts",
      sql`"attempts" between 0 and coalesce("most_attempts", 5) and "attempts" <= "sends"`,
    ),
    check("callback_pool", sql`"pool" is not null or ("state" <> 'pending' and "redeliver" = 0)`),
  ],
);

/** Every send of a callback. WITHOUT ROWID. */
export const callbackAttempt = sqliteTable(
  "callback_attempt",
  {
    callbackId: text("callback_id")
      .$type<CallbackId>()
      .notNull()
      .references(() => callback.id),
    sequence: integer().notNull(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
    outcome: text().$type<Delivery["kind"]>(),
    httpStatus: integer("http_status"),
    reason: text(),
    isRedelivery: integer("is_redelivery", { mode: "boolean" }).notNull().default(false),
    address: text(),
    excerpt: text(),
  },
  (table) => [
    primaryKey({ columns: [table.callbackId, table.sequence] }),
    // Finds the few under way, at the start of the process.
    index("callback_attempt_open").on(table.callbackId).where(sql`"ended_at" is null`),
  ],
);

export function toCallback(row: typeof callback.$inferSelect): Callback {
  const { pool, sends, redeliver: isRedeliveryDue, form, mostAttempts, ...rest } = row;
  const ofForm = form === null ? {} : { form, mostAttempts: mostAttempts ?? undefined };
  return { ...rest, ...ofForm, isRedeliveryDue };
}

export function toCallbackAttempt(row: typeof callbackAttempt.$inferSelect): CallbackAttempt {
  return {
    sequence: row.sequence,
    isRedelivery: row.isRedelivery,
    startedAt: row.startedAt,
    endedAt: row.endedAt ?? undefined,
    outcome: row.outcome ?? undefined,
    status: row.httpStatus ?? undefined,
    reason: row.reason ?? undefined,
    address: row.address ?? undefined,
    excerpt: row.excerpt ?? undefined,
  };
}
