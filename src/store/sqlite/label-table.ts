import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Texts that many rows repeat, each once: ids of keys and models, quotes, reasons. Rows name them by number, in columns
 * that end in `_label`. A label never changes and is never removed.
 */
export const label = sqliteTable("label", {
  number: integer().primaryKey(),
  text: text().notNull().unique(),
});

/** The text of a label, as SQL. */
export const textOf = (number: string): string => `(select text from label where label.number = ${number})`;

/** The number of a text, as SQL; null for one that no row names. */
export const labelOf = (value: string): string => `(select number from label where text = ${value})`;
