import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { LaneId } from "../../domain/ids.ts";
import type { TroubleKind } from "../../domain/ports/route-store.ts";

/** Routes that get no tasks, until they work again. A row is written when that begins, and removed when it ends. */
export const routeTrouble = sqliteTable(
  "route_trouble",
  {
    lane: text("provider").$type<LaneId>().notNull(),
    upstreamModel: text("upstream_model").notNull(),
    /** What the upstream said, for the operator. */
    detail: text().notNull(),
    since: integer().notNull(),
    kind: text().$type<TroubleKind>().notNull().default("refused"),
    until: integer(),
    times: integer().notNull().default(1),
    /** Ids of accounts, with spaces between them; null: it counts for everybody. */
    callers: text(),
    servesOthers: integer("serves_others", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.lane, table.upstreamModel] })],
);
