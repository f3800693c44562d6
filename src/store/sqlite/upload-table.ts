import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { FileId } from "../../domain/ids.ts";
import type { MediaType } from "../../domain/media/asset.ts";
import { account, numberOfAccount } from "./account-store/account-table.ts";

/** Files that were uploaded before any task. A row goes with the file's removal, or some time after it has expired. */
export const upload = sqliteTable(
  "upload",
  {
    number: integer().primaryKey(),
    id: text().$type<FileId>().notNull().unique(),
    accountNumber: numberOfAccount(),
    name: text(),
    sha256: blob({ mode: "buffer" }).notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    type: text().$type<MediaType>().notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    durationMs: integer("duration_ms"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("upload_of_account").on(table.accountNumber, table.createdAt, table.id),
    index("upload_by_time").on(table.createdAt, table.id),
    index("upload_expiry").on(table.expiresAt),
    // Tells whether a content is still needed.
    index("upload_of_content").on(table.sha256),
  ],
);

/** What an account has uploaded, so that no upload adds up the rows. Written with each row that comes or goes. */
export const uploadTotal = sqliteTable("upload_total", {
  accountNumber: integer("account_number")
    .primaryKey()
    .references(() => account.number),
  files: integer().notNull(),
  bytes: integer().notNull(),
});
