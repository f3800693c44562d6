import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MarkKind } from "../../domain/ports/import-store.ts";

/** What was imported from other gateways. A row is written with the imported thing and stays, so that nothing is imported twice. */
export const importMark = sqliteTable(
  "import_mark",
  {
    source: text().notNull(),
    kind: text().$type<MarkKind>().notNull(),
    /** What tells it from everything else of its kind there. */
    origin: text().notNull(),
    /** The id of what it became. */
    target: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.kind, table.origin] })],
);
