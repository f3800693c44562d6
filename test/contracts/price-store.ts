import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import type { PriceOverride } from "../../src/domain/ports/price-store.ts";
import { bySystem, type MakeStore, micros, NOW, withStore } from "../helpers/store.ts";

function newOverride(model: string, amount: number): PriceOverride {
  return {
    model: model as ModelId,
    rule: {
      version: `own-${amount}`,
      lines: [
        { sku: "image", unit: "output", unitMicros: micros(amount), when: { quality: ["low", "high"] } },
      ],
      minimumMicros: micros(5),
    },
    setAt: NOW,
    reason: "winter prices",
  };
}

/** What every implementation of `PriceStore` does. `make` gives an empty store each time. */
export function describePriceStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "a price that is set is in force at once and whole, in place of the one before, and of no other model's",
      withStore(make, async ({ prices }) => {
        const [first, second] = [newOverride("a", 1), newOverride("a", 2)];
        expect(prices.rule(first.model, NOW)).toBeUndefined();
        await prices.set(first, bySystem());
        expect(prices.rule(first.model, NOW)).toEqual(first.rule);
        await prices.set(second, bySystem());
        expect(prices.rule(first.model, NOW)).toEqual(second.rule);
        expect(prices.rule("b" as ModelId, NOW)).toBeUndefined();
        expect(await prices.overrides()).toEqual([second]);
      }),
    );

    test(
      "a price that is removed is in force no more, and the others are",
      withStore(make, async ({ prices }) => {
        const [a, b] = [newOverride("a", 1), newOverride("b", 2)];
        await prices.set(b, bySystem());
        await prices.set(a, bySystem());
        expect(await prices.overrides()).toEqual([a, b]);
        expect(prices.rule(a.model, NOW)).toEqual(a.rule);
        expect(await prices.remove(a.model, bySystem())).toBe(true);
        expect(prices.rule(a.model, NOW)).toBeUndefined();
        expect(prices.rule(b.model, NOW)).toEqual(b.rule);
        expect(await prices.remove(a.model, bySystem())).toBe(false);
      }),
    );
  });
}
