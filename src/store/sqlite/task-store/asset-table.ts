import { index, integer, sqliteTable, text, unique } from "drizzle-orm/sqlite-core";
import type { AssetId } from "../../../domain/ids.ts";
import type { Asset, MediaType } from "../../../domain/media/asset.ts";
import { ofAccount } from "../account-store/account-table.ts";
import type { RawRow } from "../raw-row.ts";
import { ofTask } from "./task-table.ts";

export const asset = sqliteTable(
  "asset",
  {
    id: text().$type<AssetId>().primaryKey(),
    accountId: ofAccount(),
    taskId: ofTask(),
    role: text().$type<Asset["role"]>().notNull(),
    position: integer().notNull(),
    sha256: text().notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    type: text().$type<MediaType>().notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    durationMs: integer("duration_ms"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    unique("asset_of_task").on(table.taskId, table.role, table.position),
    // Tells whether a content is still needed.
    index("asset_of_content").on(table.sha256),
  ],
);

export type AssetRow = RawRow<typeof asset>;

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
