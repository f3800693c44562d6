import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ManagementToken } from "../../../domain/access/account.ts";
import { ALL_SCOPES, type Scope } from "../../../domain/access/token-terms.ts";
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
    /** Tokens of earlier versions have all. */
    scopes: text({ mode: "json" }).$type<readonly Scope[]>().notNull().default(ALL_SCOPES),
    expiresAt: integer("expires_at"),
    /** To within a minute. */
    lastUsedAt: integer("last_used_at"),
  },
  (table) => [
    uniqueIndex("management_token_name").on(table.name).where(sql`"revoked_at" is null`),
    index("management_token_named").on(table.name, table.revokedAt),
  ],
);

export function toManagementToken(row: typeof managementToken.$inferSelect): ManagementToken {
  return {
    ...row,
    revokedAt: row.revokedAt ?? undefined,
    expiresAt: row.expiresAt ?? undefined,
    lastUsedAt: row.lastUsedAt ?? undefined,
  };
}
