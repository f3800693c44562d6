import { describe, expect, test } from "bun:test";
import { bySystem, keyId, type MakeStore, newKey, withStore } from "../helpers/store.ts";

/** What every implementation of `ChoiceStore` does. `make` gives an empty store each time. */
export function describeChoiceStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "a choice holds for its key and its matter alone, until the key chooses again",
      withStore(make, async ({ accounts, choices }) => {
        for (const number of [1, 2]) await accounts.createKey(newKey({ number }), undefined, bySystem());
        expect(await choices.chosen(keyId(1), "model")).toBeUndefined();
        await choices.choose(keyId(1), "model", "one");
        await choices.choose(keyId(1), "size", "large");
        await choices.choose(keyId(1), "model", "another");
        expect(await choices.chosen(keyId(1), "model")).toBe("another");
        expect(await choices.chosen(keyId(1), "size")).toBe("large");
        expect(await choices.chosen(keyId(2), "model")).toBeUndefined();
      }),
    );
  });
}
