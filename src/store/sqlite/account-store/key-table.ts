import { sql } from "drizzle-orm";
import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApiKey } from "../../../domain/access/account.ts";
import type { KeyPolicy } from "../../../domain/access/key-policy.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import { account } from "./account-table.ts";

export const apiKey = sqliteTable(
  "api_key",
  {
    id: text().$type<KeyId>().primaryKey(),
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    name: text().notNull(),
    hash: text().notNull().unique(),
    display: text().notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    revokedAt: integer("revoked_at"),
    policy: text({ mode: "json" }).$type<KeyPolicy>().notNull().default({}),
    /** The secret before the last rotation, and until when it is accepted. */
    previousHash: text("previous_hash"),
    previousDisplay: text("previous_display"),
    previousExpiresAt: integer("previous_expires_at"),
    /** The secret that signs its callbacks; in the clear, because signing needs it. */
    callbackSecret: text("callback_secret"),
  },
  (table) => [
    uniqueIndex("api_key_name").on(table.accountId, table.name).where(sql`"revoked_at" is null`),
    uniqueIndex("api_key_previous").on(table.previousHash).where(sql`"previous_hash" is not null`),
  ],
);

export function toApiKey(row: typeof apiKey.$inferSelect): ApiKey {
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    hash: row.hash,
    display: row.display,
    policy: row.policy,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
    signsCallbacks: row.callbackSecret !== null,
    previous: toPreviousSecret(row),
  };
}

function toPreviousSecret({
  previousDisplay: display,
  previousExpiresAt: expiresAt,
}: typeof apiKey.$inferSelect): ApiKey["previous"] {
  return display === null || expiresAt === null ? undefined : { display, expiresAt };
}
