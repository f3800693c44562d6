import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { Json } from "../../../src/domain/json.ts";
import { chargeFor, possibleQuotes, quote } from "../../../src/domain/money/pricing.ts";

const model = createCatalog().find("gpt-image-2")!;
const SQUARE = { width: 1024, height: 1024 };

const quoted = (parameters: { readonly [name: string]: Json }, n = 1) =>
  quote(model, { kind: "image", model: model.id, mode: "any", n, parameters, inputs: [] });

test("a request that leaves nothing to the upstream keeps no other price", () => {
  expect(quoted({ size: "1024x1024", quality: "low" }).automatic).toBeUndefined();
  expect(possibleQuotes(quoted({ size: "1024x1024", quality: "low" }))).toHaveLength(1);
});

test("the file's size counts where the upstream says none, and nothing counts where files differ", () => {
  const promised = quoted({ size: "auto", quality: "low" }, 2);
  const wide = { width: 1536, height: 1024 };
  expect(Number(chargeFor(promised, { outputs: [wide, wide] }).amount)).toBe(10_000);
  expect(Number(chargeFor(promised, { outputs: [wide, SQUARE] }).amount)).toBe(12_000);
});

test("whatever the upstream says, the charge is of at most what was held, and its lines add up to it", () => {
  const word = fc.constantFrom(
    undefined,
    "auto",
    "low",
    "medium",
    "high",
    "1024x1024",
    "1536x1024",
    "7x7",
    "__proto__",
  );
  fc.assert(
    fc.property(
      fc.constantFrom("auto", "low", "medium", "high"),
      fc.constantFrom("auto", "1024x1024", "1536x1024"),
      fc.constantFrom(undefined, 1, 2),
      fc.record({ size: word, quality: word, background: word }),
      fc.integer({ min: 1, max: 3 }),
      (quality, size, partial, made, n) => {
        const partials = partial === undefined ? {} : { partial_images: partial };
        const promised = quoted({ quality, size, ...partials }, n);
        const { amount, lines } = chargeFor(promised, { outputs: Array(n).fill(SQUARE), usage: { made } });
        expect(amount).toBeLessThanOrEqual(promised.ceiling);
        expect(amount).toBeGreaterThan(0);
        expect(lines.length).toBe(promised.lines.length);
        expect(lines.reduce((sum, line) => sum + line.amount, 0)).toBe(amount);
      },
    ),
  );
});
