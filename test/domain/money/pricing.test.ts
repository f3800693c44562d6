import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelId, ProviderId } from "../../../src/domain/ids.ts";
import type { Model, PriceLine } from "../../../src/domain/model/model.ts";
import { toMicros } from "../../../src/domain/money/money.ts";
import { type Extent, PRICE_UNITS } from "../../../src/domain/money/price-units.ts";
import { chargeFor, type Delivered, isPriced, type Quote, quote } from "../../../src/domain/money/pricing.ts";
import type { GenerationRequest } from "../../../src/domain/task/request.ts";

const model = (lines: PriceLine[]): Model => ({
  id: "m" as ModelId,
  kind: "video",
  name: "M",
  description: "",
  modes: [{ id: "text-to-video", requires: [] }],
  schema: {},
  mediaFields: [],
  price: { version: "7", lines },
  deadlineMs: 1,
  routes: [{ provider: "p" as ProviderId, upstreamModel: "m" }],
});
const request = (n: number, parameters: GenerationRequest["parameters"] = {}): GenerationRequest => ({
  kind: "video",
  model: "m" as ModelId,
  mode: "text-to-video",
  n,
  parameters,
  inputs: [],
});
const perSecond: PriceLine[] = [
  { sku: "sd", unit: "second", unitMicros: toMicros(20_000), when: { resolution: "360p" } },
  { sku: "hd", unit: "second", unitMicros: toMicros(40_000), when: { resolution: "720p" } },
];

test("only the lines whose condition the request meets are priced", () => {
  const promised = quote(model(perSecond), request(2, { resolution: "720p", duration: 5 }));
  expect(promised).toEqual({
    priceVersion: "7",
    outputs: 2,
    lines: [{ sku: "hd", unit: "second", unitMicros: toMicros(40_000), perOutput: 5 }],
    ceiling: toMicros(400_000),
  });
});

const MODES: PriceLine[] = [
  { sku: "text", unit: "output", unitMicros: toMicros(1), when: { mode: "text-to-video" } },
  { sku: "image", unit: "output", unitMicros: toMicros(2), when: { mode: "image-to-video" } },
];
const skusOf = ({ lines }: Quote) => lines.map(({ sku }) => sku);

test("a condition on the mode is met by requests of that mode", () => {
  const skus = (mode: string) => skusOf(quote(model(MODES), { ...request(1), mode }));
  expect([skus("text-to-video"), skus("image-to-video"), skus("video-edit")]).toEqual([
    ["text"],
    ["image"],
    [],
  ]);
});

test("a quote is that of the request before it only where they differ in nothing that counts", () => {
  const priced = model([...perSecond, ...MODES]);
  const given = { resolution: "720p", duration: 5 };
  const asked = request(2, given);
  const terms = { rule: priced.price, multiplier: 2_000_000 };
  const others: Parameters<typeof quote>[] = [
    [priced, request(1, given)],
    [priced, { ...asked, mode: "image-to-video" }],
    [priced, request(2, { ...given, duration: 4 })],
    [priced, request(2, { ...given, seed: 1 })],
    [priced, request(2, { resolution: "720p", seconds: 5 })],
    [priced, asked, { multiplier: 2_000_000 }],
    [priced, asked, { rule: { ...priced.price, version: "8" } }],
    [model(MODES), asked],
  ];
  for (const [of, wanted, at] of others) {
    quote(priced, asked);
    // Nothing was asked for of a copy of the model.
    expect(quote(of, wanted, at)).toEqual(quote({ ...of }, wanted, at));
    expect(quote(priced, { ...asked, prompt: "another" })).toEqual(quote({ ...priced }, asked));
  }
  expect(quote(priced, asked, terms)).toBe(
    quote(priced, { ...asked, prompt: "another", parameters: { ...given } }, { ...terms }),
  );
});

test("a parameter called mode counts before the mode of the request, even where it is not given", () => {
  const named = { ...model(MODES), schema: { properties: { mode: { type: "string" } } } };
  const skus = (parameters: GenerationRequest["parameters"]) => skusOf(quote(named, request(1, parameters)));
  expect([skus({ mode: "image-to-video" }), skus({})]).toEqual([["image"], []]);
});

test("what the upstream chose is priced in the mode of the request", () => {
  const sized = (mode: string, size: string, micros: number): PriceLine => ({
    sku: `${mode} ${size}`,
    unit: "output",
    unitMicros: toMicros(micros),
    when: { mode, size },
  });
  const rule = ["text-to-video", "image-to-video"].flatMap((mode, i) => [
    sized(mode, "auto", 100 + i),
    sized(mode, "64x64", 10 + i),
  ]);
  const promised = quote(model(rule), { ...request(1, { size: "auto" }), mode: "image-to-video" });
  expect(chargeFor(promised, { outputs: outputs(1, { width: 64, height: 64 }) }).lines).toEqual([
    { sku: "image-to-video 64x64", quantity: 1, amount: toMicros(11) },
  ]);
});

const line = (given: Partial<PriceLine>): PriceLine => ({
  sku: "s",
  unit: "output",
  unitMicros: toMicros(10_000),
  ...given,
});
const outputs = (count: number, extent: Partial<Extent> = {}): Extent[] =>
  Array.from({ length: count }, () => ({ width: 1024, height: 1024, ...extent }));
const amountOf = (promised: Quote, delivered: Delivered) => Number(chargeFor(promised, delivered).amount);

test("fewer outputs than quoted cost less, more never cost more, none cost nothing", () => {
  const promised = quote(model([line({})]), request(4));
  const amounts = [0, 1, 4, 9].map((count) => amountOf(promised, { outputs: outputs(count) }));
  expect(amounts).toEqual([0, 10_000, 40_000, 40_000]);
});

test("a fraction of a micro-unit is rounded up, and nothing else is", () => {
  const promised = (duration: number, given: Partial<PriceLine> = {}, multiplier?: number) =>
    Number(
      quote(model([line({ unit: "second", unitMicros: toMicros(1), ...given })]), request(1, { duration }), {
        multiplier,
      }).ceiling,
    );
  expect(promised(1.5)).toBe(2);
  expect(promised(3)).toBe(3);
  expect(promised(1.001)).toBe(2);
  expect(promised(10, {}, 1_250_000)).toBe(13);
  expect(promised(8, {}, 1_250_000)).toBe(10);
  expect(promised(4, { unitMicros: toMicros(1_000_000), per: 3 })).toBe(1_333_334);
  // Exact where doubles are not.
  expect(promised(99_999.999, { unitMicros: toMicros(900_719_925) }, 1_000_001)).toBe(90072081671272);
});

test("a shorter video costs less, by seconds begun; one a few frames longer does not cost more", () => {
  const promised = quote(
    model([line({ unit: "second", unitMicros: toMicros(100) })]),
    request(2, { duration: 5 }),
  );
  expect(promised.ceiling).toBe(toMicros(1000));
  const charged = (durationMs: number | undefined) =>
    amountOf(promised, { outputs: outputs(2, { durationMs }) });
  expect([4_960, 5_040, 4_000, 3_001, undefined].map(charged)).toEqual([1000, 1000, 800, 800, 1000]);
});

test("megapixels are counted as begun, by the size asked for and in the end by the size delivered", () => {
  const rule = [line({ unit: "megapixel", most: 4 })];
  const promised = (size?: string) => quote(model(rule), request(1, size === undefined ? {} : { size }));
  expect(
    [promised("1024x1024"), promised("1025x1024"), promised("auto"), promised()].map((each) =>
      Number(each.ceiling),
    ),
  ).toEqual([10_000, 20_000, 40_000, 40_000]);
  const open = promised("auto");
  expect(amountOf(open, { outputs: outputs(1) })).toBe(10_000);
  expect(amountOf(open, { outputs: outputs(1, { width: 9000, height: 9000 }) })).toBe(40_000);
});

test("tokens are held at their most, and charged as the upstream reports them", () => {
  const rule = [
    line({ sku: "in", unit: "input_token", unitMicros: toMicros(5_000_000), per: 1_000_000, most: 2_000 }),
    line({ sku: "out", unit: "output_token", unitMicros: toMicros(30_000_000), per: 1_000_000, most: 1_000 }),
  ];
  const promised = quote(model(rule), request(2));
  expect(Number(promised.ceiling)).toBe(10_000 + 60_000);
  const charged = (inputTokens?: number, outputTokens?: number, count = 2) =>
    amountOf(promised, { outputs: outputs(count), usage: { inputTokens, outputTokens } });
  expect(charged(100, 500)).toBe(500 + 15_000);
  expect(charged(1e9, 1e9)).toBe(70_000);
  expect(charged()).toBe(70_000);
  expect(charged(undefined, undefined, 1)).toBe(10_000 + 30_000);
});

test("what costs less than the minimum costs the minimum, as a line of its own", () => {
  const priced = {
    ...model([line({})]),
    price: { version: "1", lines: [line({})], minimumMicros: toMicros(25_000) },
  };
  const promised = quote(priced, request(2));
  expect(Number(promised.ceiling)).toBe(25_000);
  expect(Number(quote(priced, request(3)).ceiling)).toBe(30_000);
  const { lines, amount } = chargeFor(promised, { outputs: outputs(1) });
  expect(Number(amount)).toBe(25_000);
  expect(lines.map(({ sku, amount: each }) => [sku, Number(each)])).toEqual([
    ["s", 10_000],
    ["minimum", 15_000],
  ]);
  expect(amountOf(promised, { outputs: [] })).toBe(0);
});

test("a multiplier counts for the minimum too", () => {
  const rule = { version: "1", lines: [line({})], minimumMicros: toMicros(25_000) };
  const priced = (multiplier: number) => {
    const promised = quote(model([]), request(1), { rule, multiplier });
    return [Number(promised.ceiling), amountOf(promised, { outputs: outputs(1) })];
  };
  expect([500_000, 1_000_000, 2_000_000, 333_333].map(priced)).toEqual([
    [12_500, 12_500],
    [25_000, 25_000],
    [50_000, 50_000],
    [8_334, 8_334],
  ]);
});

test("a condition may name several values, and a request without the parameter meets none", () => {
  const rule = [line({ when: { quality: ["low", "medium"] } })];
  const isFor = (parameters: GenerationRequest["parameters"]) =>
    isPriced(quote(model(rule), request(1, parameters)));
  expect([isFor({ quality: "low" }), isFor({ quality: "high" }), isFor({})]).toEqual([true, false, false]);
});

test("a rule in place of the model's own, and a multiplier, make the price", () => {
  const rule = { version: "own", lines: [line({ unitMicros: toMicros(3) })] };
  const promised = quote(model([line({})]), request(1), { rule, multiplier: 1_500_000 });
  expect(promised).toMatchObject({ priceVersion: "own", multiplier: 1_500_000, ceiling: toMicros(5) });
  expect(amountOf(promised, { outputs: outputs(1) })).toBe(5);
});

test("no charge is above its quote, and the lines of a charge come to it", () => {
  const anyLine = fc.record({
    unit: fc.constantFrom(...PRICE_UNITS),
    unitMicros: fc.integer({ min: 0, max: 5_000_000 }).map(toMicros),
    per: fc.constantFrom(1, 3, 1000, 1_000_000),
    most: fc.integer({ min: 1, max: 10_000 }),
  });
  const anyExtent = fc.record({
    width: fc.integer({ min: 1, max: 8000 }),
    height: fc.integer({ min: 1, max: 8000 }),
    durationMs: fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined }),
  });
  const anyTokens = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined });
  fc.assert(
    fc.property(
      fc.record({
        lines: fc.array(anyLine, { minLength: 1, maxLength: 4 }),
        n: fc.integer({ min: 1, max: 10 }),
        duration: fc.integer({ min: 1, max: 20_000 }).map((thousandths) => thousandths / 1000),
        delivered: fc.array(anyExtent, { maxLength: 12 }),
        usage: fc.record({ inputTokens: anyTokens, outputTokens: anyTokens }),
        multiplier: fc.integer({ min: 1, max: 5_000_000 }),
        minimumMicros: fc.integer({ min: 0, max: 100_000 }).map(toMicros),
      }),
      ({ lines, n, duration, delivered, usage, multiplier, minimumMicros }) => {
        const rule = {
          version: "1",
          lines: lines.map((each, i) => ({ sku: String(i), ...each })),
          minimumMicros,
        };
        const promised = quote(model([]), request(n, { duration }), { rule, multiplier });
        const charge = chargeFor(promised, { outputs: delivered, usage });
        expect(charge.amount).toBeLessThanOrEqual(promised.ceiling);
        expect(Number(charge.amount)).toBe(charge.lines.reduce((sum, { amount }) => sum + amount, 0));
      },
    ),
  );
});
