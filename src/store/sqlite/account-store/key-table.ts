import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApiKey } from "../../../domain/access/account.ts";
import type { KeyPolicy } from "../../../domain/access/key-policy.ts";
import type { KeyId } from "../../../domain/ids.ts";
import { ofAccount } from "./account-table.ts";

/** Whether a key's policy says how long files are kept, as SQL of both databases. */
export const RETAINS = `policy like '%"retainSec"%'`;

/** Whether a key that is not revoked has a quota, as SQL of both databases. A key whose own names have that word counts as well. */
export const LIMITED = `(policy like '%"quota"%' and revoked_at is null)`;

export const apiKey = sqliteTable(
  "api_key",
  {
    id: text().$type<KeyId>().primaryKey(),
    accountId: ofAccount(),
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
    /** The secret that signs its callbacks; sealed, because signing needs it. */
    callbackSecret: text("callback_secret"),
  },
  (table) => [
    index("api_key_of_account").on(table.accountId, table.id),
    // Keys that say how long files are kept, so that others are not looked at.
    index("api_key_retains").on(table.id).where(sql.raw(RETAINS)),
    // Keys that have a quota, so that others are not looked at for the list of quotas.
    index("api_key_limited").on(table.id).where(sql.raw(LIMITED)),
    index("api_key_limited_of_account").on(table.accountId, table.id).where(sql.raw(LIMITED)),
    // Finds the keys of a name, of all accounts: those that are not revoked, and the one that was revoked last.
    index("api_key_named").on(table.name, table.revokedAt, table.id),
    uniqueIndex("api_key_name").on(table.accountId, table.name).where(sql`"revoked_at" is null`),
    uniqueIndex("api_key_previous").on(table.previousHash).where(sql`"previous_hash" is not null`),
  ],
);

export function toApiKey(row: typeof apiKey.$inferSelect): ApiKey {
  const { previousHash, previousDisplay: display, previousExpiresAt, callbackSecret, ...key } = row;
  return {
    ...key,
    expiresAt: row.expiresAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
    signsCallbacks: callbackSecret !== null,
    previous:
      display === null || previousExpiresAt === null ? undefined : { display, expiresAt: previousExpiresAt },
  };
}
