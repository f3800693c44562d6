import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { LaneId } from "../../domain/ids.ts";

/** Routes whose upstream refused us, until they work again. A row is written when that begins, and removed when it ends. */
export const routeTrouble = sqliteTable(
  "route_trouble",
  {
    lane: text("provider").$type<LaneId>().notNull(),
    upstreamModel: text("upstream_model").notNull(),
    /** What the upstream said, for the operator. */
    detail: text().notNull(),
    since: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.lane, table.upstreamModel] })],
);
