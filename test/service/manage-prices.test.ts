import { afterEach, describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import { readConfiguredPrices } from "../../src/service/configured-prices.ts";
import { createManagePrices } from "../../src/service/manage-prices.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { micros, NOW } from "../helpers/store.ts";

const catalog = createCatalog();
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const ruleOf = (amount: string, more: JsonObject = {}): JsonObject => ({
  lines: [{ sku: "m", unit: "output", amount, ...more }],
});

function setup(pricing: JsonObject = {}) {
  const { prices, stop } = openEmptyStore();
  stops.push(stop);
  const clock = fakeClock();
  const configuredPrices = readConfiguredPrices(catalog, pricing).prices;
  return createManagePrices({
    actor: { kind: "local", name: "root" },
    catalog,
    prices,
    configuredPrices,
    clock,
  });
}

async function refusal(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`Not refused: ${String(error)}`);
  return [error.code, error.param, error.message];
}

describe("the price in force", () => {
  test("is the built-in one, unless the settings file has another, unless one was set", async () => {
    const manage = setup({ "sandbox-image": ruleOf("0.02") });
    const inForce = async (model: string) => {
      const { source, rule } = await manage.read(model);
      return [source, rule.lines[0]?.unitMicros];
    };
    expect(await inForce("sandbox-video-edit")).toEqual(["built_in", toMicros(80_000)]);
    expect(await inForce("sandbox-image")).toEqual(["settings", toMicros(20_000)]);
    await manage.set("sandbox-image", { rule: ruleOf("0.03") });
    expect(await inForce("sandbox-image")).toEqual(["set", toMicros(30_000)]);
    await manage.set("sandbox-image", { rule: ruleOf("0.04") });
    expect(await inForce("sandbox-image")).toEqual(["set", toMicros(40_000)]);
    expect(await manage.reset("sandbox-image")).toMatchObject({ source: "settings", wasSet: true });
    expect(await manage.reset("sandbox-image")).toMatchObject({ source: "settings", wasSet: false });
  });

  test("says when and why it was set, and what it leaves without a price", async () => {
    const manage = setup();
    const partial = ruleOf("0.02", { when: { resolution: "360p" } });
    const price = await manage.set("sandbox-video", { rule: partial, reason: "a trial" });
    expect(price).toMatchObject({
      set: { setAt: NOW, reason: "a trial" },
      unpriced: { resolution: "720p" },
    });
    expect(await manage.read("sandbox-video")).toEqual(price);
    expect((await manage.read("sandbox-image")).unpriced).toBeUndefined();
  });

  test("is listed for every model, also those that are not offered", async () => {
    const manage = setup();
    await manage.set("veo3", { rule: ruleOf("1") });
    const listed = await manage.list();
    expect(listed.map(({ model }) => model.id)).toEqual(catalog.all().map(({ id }) => id));
    expect(listed.filter(({ source }) => source === "set").map(({ model }) => model.id)).toEqual([
      "veo3" as ModelId,
    ]);
  });
});

describe("the price of a request", () => {
  test("is that of its create, by the rule in force, line by line", async () => {
    const manage = setup();
    await manage.set("sandbox-video", {
      rule: { lines: [{ sku: "s", unit: "second", amount: "0.030000" }], minimum: "0.500000" },
    });
    expect(await manage.priceOf("sandbox-video", { duration: 3, n: 2 }, 1_250_000)).toEqual({
      kind: "priced",
      lines: [
        {
          ...{ sku: "s", unit: "second", quantity: 6, unitMicros: micros(30_000), per: undefined },
          ...{ amount: micros(225_000), detail: "3 seconds × 2 outputs × 1.25" },
        },
        {
          ...{ sku: "minimum", unit: "task", quantity: 1, unitMicros: micros(400_000) },
          ...{ amount: micros(400_000), detail: "up to the minimum" },
        },
      ],
      cost: { least: micros(625_000), most: micros(625_000) },
      missing: [],
    });
  });

  test("is refused as its create would be", async () => {
    expect(await refusal(setup().priceOf("sandbox-video", { duration: 99 }))).toEqual([
      "invalid_request",
      "duration",
      "duration must be 1 to 10; got 99.",
    ]);
  });

  test("that there is none for says so, and what decides it", async () => {
    const manage = setup();
    await manage.set("sandbox-video", { rule: ruleOf("0.02", { when: { resolution: "360p" } }) });
    expect(await manage.priceOf("sandbox-video", { resolution: "720p" })).toMatchObject({ kind: "unpriced" });
    await manage.set("sandbox-image", {
      rule: { lines: [{ sku: "m", unit: "megapixel", amount: "0.02" }] },
    });
    expect(await manage.priceOf("sandbox-image", {})).toMatchObject({
      kind: "needs_input",
      missing: ["size"],
    });
  });
});

test.each([
  [
    "sandbox-imag",
    ruleOf("1"),
    ["not_found", undefined, 'There is no model "sandbox-imag". Did you mean "sandbox-image"?'],
  ],
  ["sandbox-image", null, ["invalid_request", "", "The rule must be an object."]],
  [
    "sandbox-image",
    ruleOf("-1"),
    [
      "invalid_request",
      "lines[0].amount",
      'lines[0].amount must be an amount in quotes with at most six places, such as "0.010000".',
    ],
  ],
  [
    "sandbox-video",
    ruleOf("1", { when: { duration: 99 } }),
    ["invalid_request", "lines", "lines price no request of sandbox-video at all."],
  ],
])("a price of %s that cannot be, %j, is refused and changes nothing", async (model, rule, refused) => {
  const manage = setup();
  const before = await manage.list();
  expect(await refusal(manage.set(model, { rule }))).toEqual(refused as never);
  expect(await manage.list()).toEqual(before);
});

test("a reason that is too long, or not one line, is refused", async () => {
  const manage = setup();
  for (const reason of ["x".repeat(201), "a\nb"]) {
    const [code, param] = await refusal(manage.set("sandbox-image", { rule: ruleOf("1"), reason }));
    expect([code, param]).toEqual(["invalid_request", "reason"]);
  }
  expect(await manage.read("sandbox-image")).toMatchObject({ source: "built_in" });
});

test("a price that is read, changed and set has another version than the one it was", async () => {
  const manage = setup();
  const { version } = (await manage.set("sandbox-image", { rule: ruleOf("0.02") })).rule;
  const changed = await manage.set("sandbox-image", { rule: { version, ...ruleOf("0.03") } });
  expect(changed.rule.version).not.toBe(version);
  const again = await manage.set("sandbox-image", {
    rule: { version: changed.rule.version, ...ruleOf("0.03") },
  });
  expect(again.rule.version).toBe(changed.rule.version);
});

describe("the prices of a settings file", () => {
  test("are read as manifests have them, with a warning for what they leave out", () => {
    const { prices, problems, warnings } = readConfiguredPrices(catalog, {
      "sandbox-image": ruleOf("0.02"),
      "sandbox-video": ruleOf("0.02", { when: { resolution: "360p" } }),
      // Its provider may be switched off; its price is one all the same.
      veo3: ruleOf("2"),
    });
    expect([...prices.keys()]).toEqual(["sandbox-image", "sandbox-video", "veo3"] as ModelId[]);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'pricing.sandbox-video has no price for requests with resolution "720p"; such requests are refused.',
    ]);
  });

  test("that cannot be used are all told, by where they stand", () => {
    const { problems } = readConfiguredPrices(catalog, {
      "sandbox-imag": ruleOf("0.02"),
      "sandbox-video": ruleOf("x"),
      veo3: 7,
      "sandbox-image": { price: 0.02 },
    });
    expect(problems).toEqual([
      { path: "sandbox-imag", message: "is no model", suggestion: "sandbox-image" },
      {
        path: "sandbox-video.lines[0].amount",
        message: 'must be an amount in quotes with at most six places, such as "0.010000"',
      },
      {
        path: "veo3",
        message: 'must be an object; a price is { lines: [{ sku: veo3, unit: second, amount: "7.000000" }] }',
      },
      {
        path: "sandbox-image",
        message:
          'has an unknown field "price"; a price is { lines: [{ sku: sandbox-image, unit: output, amount: "0.010000" }] }',
      },
    ]);
  });
});
