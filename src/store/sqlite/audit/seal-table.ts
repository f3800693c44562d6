import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { NewSeal } from "../../../domain/ports/audit.ts";

/** Numbers of a page. All its tasks, or ledger entries, are sealed together. */
export const PAGE = 10_000;
/**
 * Of what `figures` says and how it is computed. Seals of other versions are no seals: raise it with a migration that changes a column that
 * figures are made of.
 */
export const SEAL_VERSION = 1;

/**
 * A page of rows, by their numbers: page 3 of `task` has the tasks 30000 to 39999. An audit seals it with the figures that it verified;
 * retention breaks the seal in the transaction that changes one of its rows. Page 0 of `label` has the texts that sealed tasks name, page 0
 * of `sums` what is left when sums of tasks are compared with sums that are stored. WITHOUT ROWID.
 */
export const auditSeal = sqliteTable(
  "audit_seal",
  {
    tableName: text("table_name").$type<NewSeal["table"]>().notNull(),
    page: integer().notNull(),
    /** How often retention changed rows of the page: an audit that read them before does not seal it. */
    generation: integer().notNull(),
    version: integer().notNull(),
    /** As JSON; null for a page that is not sealed. */
    figures: text(),
  },
  (table) => [primaryKey({ columns: [table.tableName, table.page] })],
);

/** The page of a number, as SQL. */
export const pageOf = (number: string): string => `${number} / ${PAGE}`;
