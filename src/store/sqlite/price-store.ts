import { asc, eq } from "drizzle-orm";
import type { TrailNote } from "../../domain/access/trail.ts";
import type { ModelId } from "../../domain/ids.ts";
import type { PriceRule } from "../../domain/model/model.ts";
import { priceForm } from "../../domain/money/price-form.ts";
import type { PriceOverride, PriceStore } from "../../domain/ports/price-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { priceOverride } from "./price-table.ts";
import { prepareTrail } from "./trail.ts";

/** Prices set by the operator, in SQLite. There are few, so all are kept in memory. */
export function createPriceStore({ db, orm, read, look, write }: Connection, watch: ChangeWatch): PriceStore {
  const trail = prepareTrail(db);
  let rules: ReadonlyMap<ModelId, PriceRule> | undefined;
  const clear = () => {
    rules = undefined;
  };
  watch.onChange(clear);

  const all = (): PriceOverride[] => orm.select().from(priceOverride).orderBy(asc(priceOverride.model)).all();

  const one = (model: ModelId): PriceOverride | undefined =>
    orm.select().from(priceOverride).where(eq(priceOverride.model, model)).all()[0];

  return {
    rule: (model, now) =>
      look(() => {
        watch.look(now);
        rules ??= new Map(all().map(({ model: of, rule }) => [of, rule]));
        return rules.get(model);
      }),
    overrides: async () => read(all),
    async set({ model, ...set }, act) {
      await write(() => {
        const before = act && one(model);
        orm
          .insert(priceOverride)
          .values({ model, ...set })
          .onConflictDoUpdate({ target: priceOverride.model, set })
          .run();
        trail(act, priceSet({ model, ...set }, before));
      });
      clear();
    },
    async remove(model, act) {
      const removed = await write(() => {
        const [before] = orm.delete(priceOverride).where(eq(priceOverride.model, model)).returning().all();
        if (before === undefined) return false;
        trail(act, { action: "price.reset", object: { kind: "model", id: model }, before: formOf(before) });
        return true;
      });
      clear();
      return removed;
    },
  };
}

/** An override as the trail shows it. */
export const formOf = ({ rule, reason }: Pick<PriceOverride, "rule" | "reason">) => ({
  price: priceForm(rule),
  reason,
});

/** What the trail says of a price that is set, in place of another one if there was one. */
export function priceSet(
  set: Pick<PriceOverride, "model" | "rule" | "reason">,
  before: PriceOverride | undefined,
): TrailNote {
  const object = { kind: "model", id: set.model } as const;
  return { action: "price.set", object, before: before && formOf(before), after: formOf(set) };
}
