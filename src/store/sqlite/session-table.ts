import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CredentialKind } from "../../domain/access/credential.ts";
import type { KeyId, SessionId, TokenId } from "../../domain/ids.ts";

/** Browsers that signed in at the console. A row is removed when its session ends, or some time after it has expired. */
export const consoleSession = sqliteTable(
  "console_session",
  {
    id: text().$type<SessionId>().primaryKey(),
    /** Of its secret. A link gets another one when it is opened. */
    hash: text().notNull().unique(),
    kind: text().$type<CredentialKind>().notNull(),
    /** Of the key or token it acts as. */
    grantHash: text("grant_hash").notNull(),
    holderId: text("holder").$type<KeyId | TokenId>().notNull(),
    holderName: text("holder_name").notNull(),
    isLink: integer("is_link", { mode: "boolean" }).notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [index("console_session_expiry").on(table.expiresAt)],
);
