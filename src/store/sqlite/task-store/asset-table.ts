import { blob, index, integer, sqliteTable, text, unique } from "drizzle-orm/sqlite-core";
import type { AccountId, AssetId, TaskId } from "../../../domain/ids.ts";
import type { Asset, MediaType } from "../../../domain/media/asset.ts";
import { ACCOUNT_ID, numberOfAccount } from "../account-store/account-table.ts";
import type { RawRow } from "../raw-row.ts";
import { numberOfTask, TASK_ID } from "./task-table.ts";

export const asset = sqliteTable(
  "asset",
  {
    /** In the order in which files were stored. */
    number: integer().primaryKey(),
    id: text().$type<AssetId>().notNull().unique(),
    accountNumber: numberOfAccount(),
    taskNumber: numberOfTask(),
    role: text().$type<Asset["role"]>().notNull(),
    position: integer().notNull(),
    sha256: blob({ mode: "buffer" }).notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    type: text().$type<MediaType>().notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    durationMs: integer("duration_ms"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    unique("asset_of_task").on(table.taskNumber, table.role, table.position),
    // Tells whether a content is still needed.
    index("asset_of_content").on(table.sha256),
  ],
);

/** A hash in hexadecimal, as the domain has it, in SQL, and as it is stored. */
export const SHA256 = "lower(hex(sha256)) as sha256";
export const storedHash = (hex: string): string => `unhex(${hex})`;

export type AssetRow = Omit<RawRow<typeof asset>, "number" | "account_number" | "task_number" | "sha256"> & {
  readonly account_id: AccountId;
  readonly task_id: TaskId;
  readonly sha256: string;
};
/** The columns of `AssetRow`, as SQL. */
export const ASSET_COLUMNS = `id, ${ACCOUNT_ID} as account_id, ${TASK_ID} as task_id, role, position, ${SHA256}, size_bytes, type,
  width, height, duration_ms, created_at`;

export function toAsset(row: AssetRow): Asset {
  return {
    id: row.id,
    accountId: row.account_id,
    taskId: row.task_id,
    role: row.role,
    index: row.position,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    type: row.type,
    width: row.width,
    height: row.height,
    durationMs: row.duration_ms ?? undefined,
    createdAt: row.created_at,
  };
}
