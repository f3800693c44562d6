import { expect, test } from "bun:test";
import type { ModelId, ProviderId } from "../../src/domain/ids.ts";
import type { Model, PriceLine } from "../../src/domain/model.ts";
import { toMicros } from "../../src/domain/money.ts";
import { captureAmount, quote } from "../../src/domain/pricing.ts";
import type { GenerationRequest } from "../../src/domain/request.ts";

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

test("fewer outputs than quoted cost less, more never cost more", () => {
  const promised = quote(model([{ sku: "image", unit: "output", unitMicros: toMicros(10_000) }]), request(4));
  expect([0, 1, 4, 9].map((outputs) => captureAmount(promised, outputs))).toEqual(
    [0, 10_000, 40_000, 40_000].map(toMicros),
  );
});

test("a fraction of a micro-unit is rounded up", () => {
  const promised = quote(
    model([{ sku: "s", unit: "second", unitMicros: toMicros(1) }]),
    request(1, { duration: 1.5 }),
  );
  expect(promised.ceiling).toBe(toMicros(2));
});
