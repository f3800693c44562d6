import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ModelId } from "../../domain/ids.ts";
import type { PriceRule } from "../../domain/model/model.ts";

/** Prices that an operator set instead of the models' own. */
export const priceOverride = sqliteTable("price_override", {
  model: text().$type<ModelId>().primaryKey(),
  rule: text({ mode: "json" }).$type<PriceRule>().notNull(),
  setAt: integer("set_at").notNull(),
  reason: text().notNull(),
});
