import { sql } from "drizzle-orm";
import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ManagementToken } from "../../../domain/access/account.ts";
import type { TokenId } from "../../../domain/ids.ts";

export const managementToken = sqliteTable(
  "management_token",
  {
    id: text().$type<TokenId>().primaryKey(),
    name: text().notNull(),
    hash: text().notNull().unique(),
    display: text().notNull(),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
  },
  (table) => [uniqueIndex("management_token_name").on(table.name).where(sql`"revoked_at" is null`)],
);

export function toManagementToken(row: typeof managementToken.$inferSelect): ManagementToken {
  return { ...row, revokedAt: row.revokedAt ?? undefined };
}
