import { asc, eq } from "drizzle-orm";
import type { ModelId } from "../../domain/ids.ts";
import type { PriceRule } from "../../domain/model/model.ts";
import type { PriceOverride, PriceStore } from "../../domain/ports/price-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { priceOverride } from "./price-table.ts";

/** Prices set by the operator, in SQLite. There are few, so all are kept in memory. */
export function createPriceStore({ orm, read, write }: Connection, watch: ChangeWatch): PriceStore {
  let rules: ReadonlyMap<ModelId, PriceRule> | undefined;
  const clear = () => {
    rules = undefined;
  };
  watch.onChange(clear);

  const all = (): PriceOverride[] => orm.select().from(priceOverride).orderBy(asc(priceOverride.model)).all();

  return {
    rule: (model, now) =>
      read(() => {
        watch.look(now);
        rules ??= new Map(all().map(({ model: of, rule }) => [of, rule]));
        return rules.get(model);
      }),
    overrides: async () => read(all),
    async set({ model, ...set }) {
      await write(() => {
        orm
          .insert(priceOverride)
          .values({ model, ...set })
          .onConflictDoUpdate({ target: priceOverride.model, set })
          .run();
      });
      clear();
    },
    async remove(model) {
      const removed = await write(
        () =>
          orm
            .delete(priceOverride)
            .where(eq(priceOverride.model, model))
            .returning({ model: priceOverride.model })
            .all().length,
      );
      clear();
      return removed > 0;
    },
  };
}
