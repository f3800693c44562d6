import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createCatalog } from "../../src/catalog/catalog.ts";
import manifestSchema from "../../src/catalog/manifest.schema.json";
import { type PriceRuleForm, priceProblems, toPriceRule } from "../../src/catalog/price.ts";
import { createPriceChecker, priceSchemaProblems } from "../../src/catalog/schema-check.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Model, PriceRule } from "../../src/domain/model/model.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import { unpricedCase } from "../../src/domain/money/price-coverage.ts";
import { priceForm } from "../../src/domain/money/price-form.ts";
import { PRICE_UNITS } from "../../src/domain/money/price-units.ts";
import { pricedSchema } from "../../src/domain/money/priced-fields.ts";
import { chargeFor, quote } from "../../src/domain/money/pricing.ts";
import { MODEL } from "../helpers/engine.ts";

const catalog = createCatalog();
const model = (id: string): Model => catalog.find(id)!;

const MODEL_WITH: Model = {
  ...MODEL,
  mediaFields: [{ name: "image_url", role: "image", media: "image" }],
  schema: {
    required: ["model", "prompt"],
    properties: {
      model: { type: "string" },
      prompt: { type: "string" },
      image_url: { type: "string" },
      n: { type: "integer" },
      resolution: { type: "string", enum: ["1K", "2K"], default: "1K" },
      duration: { type: "integer", minimum: 1, maximum: 10, default: 5 },
      size: { type: "string", examples: ["64x64"] },
    },
  },
};
/** From an image it makes no more than three seconds. */
const FIXED: Model = {
  ...MODEL_WITH,
  id: "fixed" as ModelId,
  modes: [
    { id: "text-to-video", requires: [] },
    { id: "image-to-video", requires: ["image"] },
  ],
  schema: {
    type: "object",
    required: ["model", "prompt"],
    properties: {
      model: { type: "string" },
      prompt: { type: "string" },
      image_url: { type: "string" },
      duration: { type: "integer", minimum: 2, maximum: 4, default: 2 },
    },
    allOf: [{ not: { required: ["image_url"], properties: { duration: { const: 4 } } }, "x-rule": "No." }],
  },
};
const read = (value: Json) => catalog.readPrice(MODEL_WITH, value);
const line = (over: JsonObject = {}): JsonObject => ({ sku: "m", unit: "output", amount: "1", ...over });

function rule(value: Json): PriceRule {
  const price = read(value);
  if (!price.ok) throw new Error(`${price.path} ${price.problem}`);
  return price.rule;
}

describe("the built-in prices", () => {
  test.each(catalog.all().map((each) => [each.id, each] as const))(
    "of %s are for every request that its schema admits",
    (_, each) => {
      expect(unpricedCase(pricedSchema(each), each.price)).toBeUndefined();
      expect(catalog.unpricedRequest(each, each.price)).toBeUndefined();
    },
  );

  const square = "1024x1024";
  test.each([
    ["gpt-image-2", { low: [6, 5, 6], medium: [53, 41, 53], high: [211, 165, 211], auto: [211, 165, 211] }],
    [
      "gpt-image-1.5",
      { low: [9, 13, 13], medium: [34, 51, 51], high: [133, 200, 200], auto: [133, 200, 200] },
    ],
    ["gpt-image-1-mini", { low: [5, 6, 6], medium: [11, 15, 15], high: [36, 52, 52], auto: [36, 52, 52] }],
  ])("of %s are those published for square, oblong and automatic sizes, in thousandths", (id, table) => {
    for (const [quality, [ofSquare, ofOblong, ofAuto]] of Object.entries(table)) {
      const ofSize = { [square]: ofSquare, "1536x1024": ofOblong, "1024x1536": ofOblong, auto: ofAuto };
      for (const [size, thousandths] of Object.entries(ofSize)) {
        const request = { kind: "image", model: id as ModelId, mode: "any", n: 1, inputs: [] } as const;
        const { ceiling } = quote(model(id), { ...request, parameters: { quality, size } });
        expect({ id, quality, size, ceiling }).toEqual({
          ...{ id, quality, size },
          ceiling: toMicros((thousandths ?? 0) * 1000),
        });
      }
    }
  });

  test.each([
    ["gpt-image-2", 211_000, 3_000],
    ["gpt-image-1.5", 133_000, 3_200],
    ["gpt-image-1-mini", 36_000, 800],
    ["sandbox-image", 10_000, 0],
  ])(
    "of %s add 100 tokens of output for each early version of each image that is asked for",
    (id, image, early) => {
      for (const [partialImages, n] of [
        [undefined, 1],
        [0, 1],
        [1, 1],
        [2, 1],
        [3, 4],
      ] as const) {
        const wish = partialImages === undefined ? {} : { partial_images: partialImages };
        const parameters = { quality: "high", size: square, ...wish };
        const request = {
          kind: "image",
          model: id as ModelId,
          mode: "any",
          n,
          inputs: [],
          parameters,
        } as const;
        const promised = quote(model(id), request);
        const whole = n * (image + early * (partialImages ?? 0));
        expect(promised.ceiling).toBe(toMicros(whole));
        // However many of them came.
        const outputs = Array.from({ length: n }, () => ({ width: 1024, height: 1024 }));
        expect(chargeFor(promised, { outputs }).amount).toBe(toMicros(whole));
        expect(chargeFor(promised, { outputs: outputs.slice(0, 1) }).amount).toBe(toMicros(whole / n));
      }
    },
  );

  test("are what routes to openai and fal cost, and nothing is known of the sandbox's", () => {
    const known: Record<string, boolean> = { openai: true, fal: true, sandbox: false };
    for (const { provider, cost } of catalog.all().flatMap(({ routes }) => routes)) {
      if (Object.hasOwn(known, provider)) expect(cost === "list").toBe(known[provider]!);
    }
  });
});

describe("a price rule", () => {
  test("may use every unit, by the many, at most so many, under conditions and with a minimum", () => {
    const lines = [
      line({ sku: "a", unit: "second", when: { resolution: ["1K", "2K"] } }),
      line({ sku: "b", unit: "megapixel", most: 4 }),
      line({ sku: "c", unit: "output_token", per: 1_000_000, most: 5000, when: { resolution: "2K" } }),
    ];
    expect(rule({ version: "x", lines, minimum: "0.5" })).toEqual({
      version: "x",
      lines: [
        { sku: "a", unit: "second", unitMicros: toMicros(1_000_000), when: { resolution: ["1K", "2K"] } },
        { sku: "b", unit: "megapixel", unitMicros: toMicros(1_000_000), most: 4 },
        {
          ...{ sku: "c", unit: "output_token", unitMicros: toMicros(1_000_000) },
          ...{ per: 1_000_000, most: 5000, when: { resolution: "2K" } },
        },
      ],
      minimumMicros: toMicros(500_000),
    });
  });

  test.each([
    [null, "", "must be an object"],
    [{ lines: [] }, "lines", "must have at least one entry"],
    [{ lines: [line()], minimum: "-1" }, "minimum", "must be an amount in quotes with at most six places"],
    [{ lines: [line({ amount: 0.01 })] }, "lines[0].amount", "must be an amount in quotes"],
    [{ lines: [line({ amount: "0.0000001" })] }, "lines[0].amount", "must be an amount in quotes"],
    [{ lines: [line(), line()] }, "lines", 'has two lines with the sku "m"'],
    [{ lines: [line({ sku: "minimum" })] }, "lines[0].sku", 'must not be "minimum"'],
    [{ lines: [line({ unit: "pixel" })] }, "lines[0].unit", "must be one of output, second, megapixel"],
    [{ lines: [line({ most: 3 })] }, "lines[0].most", "is for units whose number a request need not tell"],
    [{ lines: [line({ unit: "input_token" })] }, "lines[0].most", "must say how many input tokens"],
    [{ lines: [line({ per: 0 })] }, "lines[0].per", "must be a whole number above 0"],
    [{ lines: [line({ when: { style: "a" } })] }, "lines[0].when.style", "is no property of the schema"],
    [{ lines: [line({ when: { n: 2 } })] }, "lines[0].when.n", "is nothing that a price can depend on"],
    [
      { lines: [line({ when: { image_url: "x" } })] },
      "lines[0].when.image_url",
      "is nothing that a price can",
    ],
    [
      { lines: [line({ when: { resolution: "4K" } })] },
      "lines[0].when.resolution",
      'must be one of "1K", "2K"',
    ],
    [
      { lines: [line({ when: { resolution: [] } })] },
      "lines[0].when.resolution",
      "must have at least one entry",
    ],
    [
      { lines: [line({ when: { size: null } })] },
      "lines[0].when.size",
      "must be a text, a number, a boolean or a list",
    ],
    [{ lines: [line({ amount: "100001" })] }, "lines[0].amount", "can come to more than 100000.000000"],
    [{ lines: [line()], minimum: "100000.000001" }, "minimum", "is more than 100000.000000"],
    [{ lines: [line({ unit: "second", amount: "101" })] }, "lines[0].amount", "can come to more than"],
    [{ lines: [line()], version: "a\u0000" }, "version", "must have at most 200 characters"],
    [{ lines: [line({ when: { duration: 11 } })] }, "lines", "price no request of sandbox-image at all"],
  ] as [Json, string, string][])(
    "that cannot be used is told by the field at fault: %#",
    (value, path, problem) => {
      expect(read(value)).toEqual({ ok: false, path, problem: expect.stringContaining(problem) });
    },
  );

  test("may have every unit of the table, and no other", () => {
    expect(manifestSchema.$defs.priceLine.properties.unit.enum).toEqual([...PRICE_UNITS]);
  });

  test("needs a property of the schema for what it counts, or to say how many there are at most", () => {
    const { resolution } = MODEL_WITH.schema.properties as JsonObject;
    const plain = { ...MODEL_WITH, schema: { properties: { resolution } } } as Model;
    const refused = catalog.readPrice(plain, { lines: [line({ unit: "second" })] });
    expect(refused).toMatchObject({
      path: "lines[0].most",
      problem: 'must say how many there can be at most, for the schema has no property "duration"',
    });
    expect(catalog.readPrice(plain, { lines: [line({ unit: "second", most: 8 })] }).ok).toBe(true);
  });

  test("that is written as it is answered reads as it was", () => {
    const unit = fc.constantFrom(...PRICE_UNITS);
    const lines = fc.uniqueArray(
      fc.record({
        ...{
          sku: fc.stringMatching(/^[a-z]{1,8}$/),
          unit,
          unitMicros: fc.integer({ min: 0, max: 1_000_000 }),
        },
        ...{ per: fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined }) },
        ...{ most: fc.integer({ min: 1, max: 10_000 }) },
        ...{ when: fc.option(fc.constant({ resolution: ["1K", "2K"] }), { nil: undefined }) },
      }),
      { minLength: 1, maxLength: 4, selector: ({ sku }) => sku },
    );
    const any = fc.record({
      version: fc.constant("v"),
      lines,
      minimumMicros: fc.option(fc.nat(1e9), { nil: undefined }),
    });
    const checker = createPriceChecker();
    fc.assert(
      fc.property(any, (generated) => {
        // An output has no `most`; everything else here is what a rule may hold.
        const original = JSON.parse(
          JSON.stringify(generated, (_key, value) =>
            value?.unit === "output" ? { ...value, most: undefined } : value,
          ),
        );
        const form = priceForm(original);
        expect(priceSchemaProblems(checker, form)).toEqual([]);
        // Its schema has just been checked.
        const checked = form as unknown as PriceRuleForm;
        expect(priceProblems(checked, MODEL_WITH)).toEqual([]);
        expect(toPriceRule(checked)).toEqual(original);
      }),
    );
  });
});

describe("the version of a price rule", () => {
  test("that has none follows from what it says, however that is written", () => {
    const { version } = rule({ lines: [line({ amount: "1" })] });
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    expect(rule({ lines: [{ amount: "1.000000", unit: "output", sku: "m" }] }).version).toBe(version);
    for (const other of [
      { lines: [line({ amount: "1.000001" })] },
      { lines: [line()], minimum: "0" },
      { lines: [line({ when: { resolution: ["1K", "2K"] } })] },
    ])
      expect(rule(other).version).not.toBe(version);
  });

  test("stays what it is given as, unless other prices have it already", () => {
    const id = "sandbox-image";
    const built = model(id).price;
    const version = (value: Json, before?: PriceRule) => {
      const price = catalog.readPrice(model(id), value, before);
      return price.ok ? price.rule.version : price.problem;
    };
    expect(version(priceForm(built))).toBe(built.version);
    expect(version({ version: "2026-12", lines: [line()] })).toBe("2026-12");
    expect(version({ ...priceForm(built), lines: [line()] })).toMatch(/^[0-9a-f]{12}$/);
    const before = rule({ version: "2026-12", lines: [line()] });
    expect(version({ version: "2026-12", lines: [line()] }, before)).toBe("2026-12");
    expect(version({ version: "2026-12", lines: [line({ amount: "2" })] }, before)).toMatch(/^[0-9a-f]{12}$/);
  });
});

describe("a request without a price", () => {
  const unpriced = (id: string, value: Json) => {
    const price = catalog.readPrice(model(id), value);
    return price.ok ? catalog.unpricedRequest(model(id), price.rule) : price.problem;
  };

  test("is found where a condition leaves it out", () => {
    expect(unpriced("sandbox-video", { lines: [line({ when: { resolution: "360p" } })] })).toEqual({
      resolution: "720p",
    });
  });

  test("is found where nothing tells how much it is", () => {
    const perPixel = (over: JsonObject) => ({ lines: [line({ unit: "megapixel", ...over })] });
    expect(unpriced("sandbox-image", perPixel({}))).toEqual({ size: "auto" });
    expect(unpriced("sandbox-image", perPixel({ most: 16 }))).toBeUndefined();
    expect(unpriced("sandbox-video-edit", { lines: [line({ unit: "second" })] })).toEqual({});
  });

  test("is found in the mode that has no line", () => {
    const oneMode = { lines: [line({ when: { mode: "text-to-image" } })] };
    expect(unpriced("sandbox-image", oneMode)).toEqual({ mode: "image-to-image" });
    const modes = ["text-to-image", "image-to-image", "image-to-image-with-mask"];
    expect(unpriced("sandbox-image", { lines: [line({ when: { mode: modes } })] })).toBeUndefined();
    const resolutions = [
      line({ sku: "a", when: { mode: "text-to-video" } }),
      line({ sku: "b", when: { mode: "image-to-video", resolution: "360p" } }),
    ];
    expect(unpriced("sandbox-video", { lines: resolutions })).toEqual({
      mode: "image-to-video",
      resolution: "720p",
    });
  });

  test("is not one of a mode in which the model takes no such request", () => {
    const onlyText = line({ sku: "a", when: { mode: "text-to-video" } });
    const short = line({ sku: "b", when: { mode: "image-to-video", duration: [2, 3] } });
    const priced = catalog.readPrice(FIXED, { lines: [onlyText, short] });
    if (!priced.ok) throw new Error(priced.problem);
    expect(unpricedCase(pricedSchema(FIXED), priced.rule)).toEqual({ mode: "image-to-video", duration: 4 });
    expect(catalog.unpricedRequest(FIXED, priced.rule)).toBeUndefined();
  });

  test("is one that the model takes: what it refuses anyway needs no price", () => {
    const price = rulePriced("gpt-image-2", [
      line({ sku: "a", when: { output_format: ["png", "webp"] } }),
      line({ sku: "b", when: { output_format: "jpeg", background: ["auto", "opaque"] } }),
    ]);
    const { schema } = model("gpt-image-2");
    expect(unpricedCase(schema, price)).toEqual({ output_format: "jpeg", background: "transparent" });
    expect(catalog.unpricedRequest(model("gpt-image-2"), price)).toEqual({ output_format: "jpeg" });
  });

  test("is not looked for where there are more than can be looked at", () => {
    const names = ["a", "b", "c"];
    const choices = Array.from({ length: 47 }, (_, i) => `v${i}`);
    const wide: Model = {
      ...MODEL_WITH,
      schema: { properties: Object.fromEntries(names.map((name) => [name, { enum: choices }])) },
    };
    const when = Object.fromEntries(names.map((name) => [name, choices]));
    const price = toPriceRule({ lines: [{ sku: "m", unit: "output", amount: "1", when }] });
    expect(catalog.unpricedRequest(wide, price)).toBeUndefined();
  });
});

function rulePriced(id: string, lines: JsonObject[]): PriceRule {
  const price = catalog.readPrice(model(id), { lines });
  if (!price.ok) throw new Error(price.problem);
  return price.rule;
}
