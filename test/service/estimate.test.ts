import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { hasProperty } from "../../src/catalog/create-body.ts";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { LaneId, ModelId, ProviderId } from "../../src/domain/ids.ts";
import { type Json, type JsonObject, propertyOf } from "../../src/domain/json.ts";
import type { Model, PriceRule } from "../../src/domain/model/model.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import { unitFacts } from "../../src/domain/money/price-units.ts";
import { pricedParameters } from "../../src/domain/money/pricing.ts";
import type { Catalog } from "../../src/domain/ports/catalog.ts";
import type { TaskDuration } from "../../src/domain/ports/usage-store.ts";
import { createTaskFeed, createWakeup } from "../../src/runtime/signals.ts";
import { createCreateTask } from "../../src/service/create-task.ts";
import { createEstimate, type EstimateDeps, type EstimateRequest } from "../../src/service/estimate.ts";
import type { Store } from "../../src/store/open.ts";
import { countingIds, fakeClock, MODEL, memoryAssets, routingOf } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { fakeSecrets } from "../helpers/secrets.ts";
import { ACCOUNT, accountId, addAccount, keyId, micros, newTask } from "../helpers/store.ts";

const catalog = createCatalog();
const MEDIA = "https://example.com/a";
const PREPAID = accountId(2);

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function openWithAccounts(): Promise<Store> {
  const store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  await addAccount(store, { id: PREPAID, mode: "prepaid", credit: micros(1_000_000) });
  return store;
}

/** For the tests of all models, which add tasks and read none. */
let common: Store;
const commonIds = countingIds();
beforeAll(async () => {
  common = await openWithAccounts();
});
afterAll(() => common.stop());

async function setup(
  given: {
    deps?: Partial<EstimateDeps>;
    policy?: KeyPolicy;
    account?: typeof ACCOUNT;
    multiplier?: number;
    rule?: PriceRule;
    hasProvider?: (id: ProviderId) => boolean;
    /** One of its own unless given. */
    store?: Store;
  } = {},
) {
  const store = given.store ?? (await openWithAccounts());
  if (given.store === undefined) stops.push(store.stop);
  const clock = fakeClock();
  const principal = {
    accountId: given.account ?? ACCOUNT,
    keyId: keyId(1),
    keyName: "key",
    policy: given.policy ?? {},
    priceMultiplier: given.multiplier ?? 1_000_000,
  };
  const prices = { rule: () => given.rule };
  const aliases = { photo: "sandbox-image" as ModelId };
  const deps = { catalog, aliases, accounts: store.accounts, prices, clock };
  const estimateCost = createEstimate({ ...deps, usage: store.usage, ...given.deps });
  const createTask = createCreateTask({
    ...{ ...deps, catalog: given.deps?.catalog ?? catalog },
    tasks: store.tasks,
    uploads: store.uploads,
    assets: memoryAssets(),
    egress: {
      refusal: () => undefined,
      fetchMedia: () => Promise.reject(new Error("nothing is fetched")),
      deliver: () => Promise.reject(new Error("nothing is delivered")),
      ask: () => Promise.reject(new Error("nothing is asked")),
    },
    ids: given.store === undefined ? countingIds() : commonIds,
    secrets: fakeSecrets(),
    wakeup: createWakeup(store.tasks),
    feed: createTaskFeed(),
    tally: { created() {} },
    routing: routingOf(given.hasProvider ?? (() => true)),
    isAccepting: () => true,
    trouble: () => undefined,
    tellLowBalance() {},
    queues: { check: () => undefined },
  });
  return {
    store,
    clock,
    estimate: (request: JsonObject, more: Partial<EstimateRequest> = {}) =>
      estimateCost({ principal, request, ...more }),
    create: (model: Model, body: JsonObject) =>
      createTask({
        kind: model.kind,
        body,
        principal,
        requestId: "req_1",
        origin: "http://localhost",
        endpoint: "POST /v1/x",
      }),
  };
}

/** The values a field of a model may have in a sample of requests, absent first. */
function choicesOf(property: JsonObject): (Json | undefined)[] {
  if (Array.isArray(property.enum)) return [undefined, ...property.enum];
  if (property.type === "boolean") return [undefined, true, false];
  if (property.type === "integer") return [undefined, property.minimum ?? 0, property.maximum ?? 9];
  return [undefined];
}

const givenOf = ({ schema }: Model, body: JsonObject, name: string) =>
  body[name] ?? propertyOf(schema, name)?.default;

/** Whether the units of a line are those of what was made, because the request does not say how many there will be. */
function isMeasured(model: Model, body: JsonObject, sku: string): boolean {
  const line = model.price.lines.find((each) => each.sku === sku);
  const { parameter } = line === undefined ? {} : unitFacts(line.unit);
  return (
    line?.most !== undefined && (parameter === undefined || givenOf(model, body, parameter) === undefined)
  );
}

/** Code and field of the error that a promise is rejected with. */
async function refusal(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof AppError ? [error.code, error.param] : error;
}

const ODD: PriceRule = {
  version: "odd",
  lines: [
    { sku: "each", unit: "output", unitMicros: toMicros(33_333) },
    { sku: "pixels", unit: "megapixel", unitMicros: toMicros(7), most: 16 },
    { sku: "time", unit: "second", unitMicros: toMicros(1_001), most: 10 },
    { sku: "tokens", unit: "output_token", unitMicros: toMicros(7_777_777), per: 1_000_000, most: 999 },
  ],
  minimumMicros: toMicros(100_000),
};

/** Bodies tried for a model; its schema refuses many of them. */
const CANDIDATES = 1_000;
/** Bodies of a model that are priced at most. */
const BODIES = 200;
/** Bodies of a model that are alike in all that a price may depend on. */
const ALIKE = 3;
/** A prime, larger than any number of choices: multiples of it reach every combination, in no order. */
const STRIDE = 1_000_003;

const bodies = new Map<Model, readonly JsonObject[]>();
const bodiesOf = (model: Model) => bodies.getOrInsertComputed(model, sampleOf);

/**
 * Bodies the model's schema admits, of every combination of what its fields may be or an even sample of them: a few for each
 * combination that may have a price of its own. Media are among the fields where the mode decides the price.
 */
function sampleOf(model: Model): JsonObject[] {
  const properties = model.schema.properties as Record<string, JsonObject>;
  const isChosen = (name: string) => Array.isArray(properties[name]?.enum);
  const required = (model.schema.required as string[]).filter((name) => name !== "model");
  const needed = required.filter((name) => !isChosen(name));
  const whole = needed.map((name) => [name, properties[name]?.type === "array" ? [MEDIA] : MEDIA]);
  const media = model.mediaFields.map(({ name }) => name);
  const isByMode = pricedParameters(model.price).includes("mode");
  const valuesOf = (name: string) => {
    if (!isByMode || !media.includes(name)) return choicesOf(properties[name]!);
    return [undefined, properties[name]?.type === "array" ? [MEDIA, MEDIA] : MEDIA];
  };
  const isOpen = (name: string) => !needed.includes(name) && name !== "index" && name !== "seed";
  const axes = Object.keys(properties)
    .filter(isOpen)
    .map((name) => [name, valuesOf(name)] as const)
    .filter(([, choices]) => choices.length > 1);
  const count = axes.reduce((product, [, choices]) => product * choices.length, 1);
  const bodyAt = (i: number): JsonObject => {
    let rest = (i * STRIDE) % count;
    const body: Record<string, Json> = { model: model.id, ...Object.fromEntries(whole) };
    for (const [name, choices] of axes) {
      const value = choices[rest % choices.length];
      if (value !== undefined) body[name] = value;
      rest = Math.floor(rest / choices.length);
    }
    return body;
  };
  const priced = [
    ...pricedParameters(model.price),
    ...pricedParameters(ODD),
    ...(isByMode ? media : []),
    "n",
  ];
  const alike = new Map<string, number>();
  const bodies: JsonObject[] = [];
  for (let i = 0; i < Math.min(count, CANDIDATES) && bodies.length < BODIES; i++) {
    const body = bodyAt(i);
    const key = JSON.stringify(priced.map((name) => body[name]));
    const before = alike.get(key) ?? 0;
    if (before === ALIKE || !catalog.validate(model, body).ok) continue;
    alike.set(key, before + 1);
    bodies.push(body);
  }
  return bodies;
}

describe("an estimate", () => {
  test.each(catalog.models().map((model) => [model.id, model] as const))(
    "of %s is at most what the create of the same body holds, and no less",
    async (_, model) => {
      const { estimate, create } = await setup({ store: common });
      const prices = new Set<number>();
      const bodies = bodiesOf(model);
      // All at once, so that the store commits them together.
      const created = await Promise.all(bodies.map((body) => create(model, body)));
      for (const [i, body] of bodies.entries()) {
        const { held } = created[i]!;
        const { cost, status, lines, missing } = await estimate(body);
        expect({ body, most: cost?.most }).toEqual({ body, most: held });
        // What the upstream chooses is held for at its dearest, and so is what only the result tells.
        const isAutomatic = pricedParameters(model.price).some(
          (name) => givenOf(model, body, name) === "auto",
        );
        const isUntold = lines.some(({ sku }) => isMeasured(model, body, sku));
        expect([status, missing]).toEqual([isAutomatic || isUntold ? "range" : "exact", []]);
        expect(lines.reduce((sum, line) => sum + line.amount, 0)).toBe(held);
        prices.add(held);
      }
      const { lines } = model.price;
      const [only] = lines;
      const counted = only && unitFacts(only.unit).parameter;
      const isTold = counted !== undefined && hasProperty(model.schema, counted);
      const isFixed = lines.length === 1 && !isTold && !hasProperty(model.schema, "n");
      expect(prices.size > 1).toBe(!isFixed);
    },
    20_000,
  );

  test.each(catalog.models().map((model) => [model.id, model] as const))(
    "of %s under a price that was set, with a minimum and a multiplier, is what the create holds, line by line",
    async (_, model) => {
      const { estimate, create } = await setup({ store: common, rule: ODD, multiplier: 1_333_333 });
      const all = bodiesOf(model);
      const bodies = all.filter((_each, i) => i % Math.ceil(all.length / 40) === 0);
      const created = await Promise.all(bodies.map((body) => create(model, body)));
      for (const [i, body] of bodies.entries()) {
        const { held } = created[i]!;
        const { cost, lines, multiplier, priceVersion } = await estimate(body, { quantity: 3 });
        expect({ body, most: Number(cost?.most) }).toEqual({ body, most: held * 3 });
        expect(lines.reduce((sum, line) => sum + line.amount, 0)).toBe(held * 3);
        expect(cost?.least).toBeLessThanOrEqual(held * 3);
        expect([multiplier, priceVersion]).toEqual([1_333_333, "odd"]);
      }
    },
    20_000,
  );

  test("is a range where only the end tells: from one unit begun, or no token, to the most held", async () => {
    const { estimate } = await setup({ rule: ODD });
    const { status, cost, lines } = await estimate({ model: "sandbox-image", n: 2 });
    const least = 2 * (33_333 + 7 + 1_001);
    const most = 2 * (33_333 + 7 * 16 + 1_001 * 10) + Math.ceil(2 * 999 * 7.777777);
    expect(status).toBe("range");
    expect(cost).toEqual({ least: micros(Math.max(100_000, least)), most: micros(most) });
    expect(lines.map(({ sku, quantity, per }) => [sku, quantity, per])).toEqual([
      ["each", 2, undefined],
      ["pixels", 32, undefined],
      ["time", 20, undefined],
      ["tokens", 1_998, 1_000_000],
    ]);
  });

  test("has a line for what makes up for the minimum", async () => {
    const minimum = { version: "1", lines: ODD.lines.slice(0, 1), minimumMicros: toMicros(50_000) };
    const { estimate } = await setup({ rule: minimum });
    const { cost, lines, status } = await estimate({ model: "sandbox-image" }, { quantity: 4 });
    expect([status, cost?.most]).toEqual(["exact", micros(200_000)]);
    expect(lines).toMatchObject([
      { sku: "each", amount: 133_332, detail: "1 output × 4 requests" },
      {
        ...{ sku: "minimum", unit: "task", quantity: 4, unitMicros: 16_667, amount: 66_668 },
        detail: "up to the minimum × 4 requests",
      },
    ]);
    const none = await estimate({ model: "sandbox-image", n: 2 });
    expect(none.lines.map(({ sku }) => sku)).toEqual(["each"]);
  });

  test("is refused for so many requests that nobody could count what they cost", async () => {
    const dear = { version: "1", lines: [{ sku: "x", unit: "output", unitMicros: toMicros(1e11) }] } as const;
    const { estimate } = await setup({ rule: dear, multiplier: 1_000_000_000 });
    const refused = estimate({ model: "sandbox-image", n: 10 }, { quantity: 1000 });
    await expect(refused).rejects.toMatchObject({
      code: "invalid_request",
      message: "quantity 1000 comes to more than can be counted.",
    });
    expect((await estimate({ model: "sandbox-image", n: 10 })).cost?.most).toBe(micros(1e15));
  });

  test("is whole: what is counted, at what price, and what was taken for granted", async () => {
    const { estimate } = await setup();
    const body = { model: "sandbox-video", prompt: "x", resolution: "720p", n: 2 };
    expect(await estimate(body, { quantity: 3 })).toEqual({
      model: "sandbox-video" as ModelId,
      endpoint: "/v1/videos/generations",
      quantity: 3,
      status: "exact",
      cost: { least: micros(960_000), most: micros(960_000) },
      lines: [
        {
          sku: "sandbox-video-720p",
          unit: "second",
          quantity: 24,
          unitMicros: micros(40_000),
          amount: micros(960_000),
          detail: "4 seconds × 2 outputs × 3 requests",
        },
      ],
      assumptions: [{ field: "duration", value: 4, source: "default" }],
      missing: [],
      isAffordable: true,
      limitedBy: undefined,
      duration: undefined,
      priceVersion: "1",
      multiplier: undefined,
    });
  });

  test("needs no prompt and no media, and says which and what mode it took", async () => {
    const { estimate } = await setup();
    const rows = [
      ["sandbox-image", {}, ["prompt"], undefined],
      ["sandbox-image", { mask_url: MEDIA }, ["prompt", "image_url"], "image-to-image-with-mask"],
      ["sandbox-video-frames", {}, ["first_frame_url"], "first-frame"],
      ["sandbox-video-frames", { last_frame_url: MEDIA }, ["first_frame_url"], "first-last-frame"],
      ["sandbox-video-reference", {}, ["prompt", "reference_image_urls"], "reference-to-video"],
      ["sandbox-video-motion", { image_url: MEDIA }, ["motion_video_url"], "motion-control"],
      ["sandbox-video", { task_id: "task_1", index: 1 }, ["prompt"], undefined],
    ] as const;
    for (const [model, body, missing, mode] of rows) {
      const found = await estimate({ model, ...body });
      const assumed = found.assumptions.find(({ field }) => field === "mode")?.value;
      expect([model, found.status, found.missing, assumed]).toEqual([model, "exact", [...missing], mode]);
    }
  });

  test("says which mode it is for where the mode decides the price", async () => {
    const { estimate } = await setup();
    const found = async (body: JsonObject) => {
      const { cost, assumptions } = await estimate({ model: "uni-1", ...body });
      const [mode] = assumptions.filter(({ field }) => field === "mode");
      return [Number(cost?.most), mode?.value, mode?.source];
    };
    expect(await found({})).toEqual([40_400, "text-to-image", "inferred"]);
    expect(await found({ image_url: MEDIA })).toEqual([43_400, "image-to-image", "inferred"]);
  });

  test("looks at no file: what is no base64 is priced all the same", async () => {
    const { estimate } = await setup();
    const { cost } = await estimate({
      model: "sandbox-image",
      prompt: "x",
      image_url: "data:image/png;base64,%%%",
    });
    expect(cost?.most).toBe(micros(10_000));
  });

  test("leaves nothing behind", async () => {
    const { store, estimate } = await setup({ account: PREPAID });
    await estimate({ model: "sandbox-image", prompt: "x" }, { quantity: 50 });
    expect(await store.accounts.account(PREPAID)).toMatchObject({ balance: 1_000_000, held: 0 });
    expect(await store.tasks.list({ accountId: PREPAID, limit: 1 })).toEqual([]);
  });
});

describe("an estimate of a prepaid account", () => {
  test("is affordable up to what is not held, to the last micro-unit", async () => {
    const { store, estimate } = await setup({ account: PREPAID });
    await store.tasks.admit({ task: newTask({ accountId: PREPAID, held: micros(600_000) }), assets: [] });
    const affordable = async (quantity: number) => {
      const { isAffordable, limitedBy } = await estimate({ model: "sandbox-image" }, { quantity });
      return [isAffordable, limitedBy];
    };
    expect(await affordable(40)).toEqual([true, undefined]);
    expect(await affordable(41)).toEqual([false, "balance"]);
  });

  test("is always affordable to an unlimited one", async () => {
    const { estimate } = await setup();
    expect((await estimate({ model: "sandbox-image", n: 10 }, { quantity: 1000 })).isAffordable).toBe(true);
  });
});

describe("an estimate is refused", () => {
  test("as its create would be", async () => {
    const { estimate, create } = await setup({ policy: { models: ["sandbox-*"] } });
    const image = catalog.find("sandbox-image")!;
    const bodies: JsonObject[] = [
      { model: "none", prompt: "x" },
      { model: 7, prompt: "x" },
      { model: "flux-dev", prompt: "x" },
      { model: "sandbox-video", prompt: "x" },
      { model: "sandbox-image", prompt: "" },
      { model: "sandbox-image", prompt: "x", n: 99 },
      { model: "sandbox-image", prompt: "x", sise: "1x1" },
      { model: "sandbox-image", prompt: "x", size: "1x1", resolution: "1K" },
      { model: "sandbox-image", prompt: "x", image_urls: [] },
    ];
    for (const body of bodies) {
      const refused = await refusal(estimate(body, { endpoint: "/v1/images/generations" }));
      expect({ body, refused }).toEqual({ body, refused: await refusal(create(image, body)) });
      expect(refused).toBeArray();
    }
  });

  test("where none of the model's routes can do it, whose provider is switched on", async () => {
    const [on, off] = ["on", "off"] as ProviderId[];
    const model: Model = {
      ...catalog.find("sandbox-image")!,
      routes: [
        { provider: off!, upstreamModel: "all" },
        {
          provider: on!,
          upstreamModel: "u",
          modes: ["image-to-image"],
          only: { image_urls: { maximum: 1 } },
        },
        { provider: on!, upstreamModel: "v", modes: ["text-to-image"], only: { n: { maximum: 2 } } },
      ],
    };
    const limited = createCatalog({ models: [model], isEnabled: (id) => id === on });
    const { store, estimate, create } = await setup({
      deps: { catalog: limited },
      hasProvider: (id) => id === on,
    });
    const refusals: [JsonObject, string][] = [
      [{ n: 3 }, "n"],
      [{ image_urls: [MEDIA, MEDIA] }, "image_urls"],
    ];
    for (const [fields, field] of refusals) {
      const body = { model: model.id, prompt: "x", ...fields };
      expect(await refusal(estimate(body))).toEqual(["invalid_request", field]);
      expect(await refusal(create(model, body))).toEqual(["invalid_request", field]);
    }
    expect((await estimate({ model: model.id, n: 2 })).status).toBe("exact");
    const { taskId } = await create(model, { model: model.id, prompt: "x", n: 2 });
    expect((await store.tasks.byId(taskId))?.routeIndex).toBe(2);
  });

  test("for a feature the key lacks, by the endpoint it is for", async () => {
    const { estimate } = await setup({ policy: { features: ["images"] } });
    const body = { model: "sandbox-image" };
    expect((await estimate(body)).status).toBe("exact");
    expect(await refusal(estimate(body, { endpoint: "/compat/v1/images/generations" }))).toEqual([
      "permission_denied",
      undefined,
    ]);
    expect(await refusal(estimate({ model: "sandbox-video" }))).toEqual(["permission_denied", undefined]);
  });

  test("under the code of the synchronous images API for a model that is not there", async () => {
    const { estimate } = await setup();
    const endpoint = "/compat/v1/images/edits" as const;
    for (const model of ["none", "sandbox-video"])
      expect(await refusal(estimate({ model }, { endpoint }))).toEqual(["model_not_found", "model"]);
  });
});

describe("a model", () => {
  const priced = (lines: Model["price"]["lines"]): EstimateDeps["catalog"] => {
    const model: Model = { ...MODEL, price: { version: "1", lines } };
    const found: Catalog = {
      all: () => [model],
      models: () => [model],
      find: () => model,
      routes: ({ routes }) => routes,
      validate: (_model, body) => ({ ok: true, body }),
    };
    return found;
  };

  test("that is known by an alias is estimated under its own id", async () => {
    const { estimate } = await setup();
    expect((await estimate({ model: "photo" })).model).toBe("sandbox-image" as ModelId);
  });

  test("without a price line is unpriced, and nobody is told that it is affordable", async () => {
    const { estimate } = await setup({ deps: { catalog: priced([]) } });
    const { status, cost, isAffordable, missing } = await estimate({ model: "m" });
    expect([status, cost, isAffordable, missing]).toEqual(["unpriced", undefined, undefined, []]);
  });

  test("whose price depends on what is neither given nor has a default needs input", async () => {
    const second = { sku: "s", unit: "second", unitMicros: toMicros(10) } as const;
    const timed = await setup({ deps: { catalog: priced([second]) } });
    expect(await timed.estimate({ model: "m" })).toMatchObject({
      status: "needs_input",
      missing: ["duration"],
    });
    expect(await timed.estimate({ model: "m", duration: 3 })).toMatchObject({ status: "exact", missing: [] });
    const sized = await setup({
      deps: { catalog: priced([{ ...second, unit: "output", when: { size: "S" } }]) },
    });
    expect(await sized.estimate({ model: "m" })).toMatchObject({ status: "needs_input", missing: ["size"] });
    expect(await sized.estimate({ model: "m", size: "XL" })).toMatchObject({
      status: "unpriced",
      missing: [],
    });
  });
});

describe("the routes of an estimate", () => {
  const [one, two, off] = ["one", "two", "off"] as ProviderId[];
  const model: Model = {
    ...catalog.find("sandbox-image")!,
    routes: [
      { provider: one!, upstreamModel: "u", only: { n: { maximum: 2 } } },
      { provider: two!, upstreamModel: "v/w", account: "two/eu" as LaneId },
      { provider: off!, upstreamModel: "x" },
    ],
  };
  const limited = createCatalog({ models: [model], isEnabled: (id) => id !== off });
  const asking = (policy: KeyPolicy) => setup({ deps: { catalog: limited }, policy });

  test("are those that can do it, for a key that may name them, as it names them", async () => {
    const { estimate } = await asking({ namedRoutes: "allowed" });
    expect((await estimate({ model: model.id })).routes).toEqual(["one:u", "two/eu:v/w"]);
    expect((await estimate({ model: model.id, n: 3 })).routes).toEqual(["two/eu:v/w"]);
    const { routes } = await estimate({ model: model.id }, { routing: { route: "one" } });
    expect(routes).toEqual(["one:u"]);
  });

  test("are not told to other keys", async () => {
    const { estimate } = await asking({});
    expect((await estimate({ model: model.id })).routes).toBeUndefined();
  });

  test("are refused as the create would refuse them", async () => {
    const [allowed, other] = [await asking({ namedRoutes: "allowed" }), await asking({})];
    const refused = (routing: EstimateRequest["routing"], body: JsonObject = {}, { estimate } = allowed) =>
      refusal(estimate({ ...body, model: model.id }, { routing }));
    expect(await refused({ route: "nobody" })).toEqual(["invalid_request", undefined]);
    expect(await refused({ route: "off" })).toEqual(["invalid_request", undefined]);
    expect(await refused({ policy: "dearest" })).toEqual(["invalid_request", undefined]);
    expect(await refused({ route: "one" }, { n: 3 })).toEqual(["invalid_request", "n"]);
    expect(await refused({ route: "one" }, {}, other)).toEqual(["permission_denied", undefined]);
  });
});

test("how long tasks take is told from five of the model's own on, and looked up anew after seconds", async () => {
  const image = (durationMs: number): TaskDuration => ({ model: "sandbox-image" as ModelId, durationMs });
  const video: TaskDuration = { model: "sandbox-video" as ModelId, durationMs: 9 };
  let latest = [1, 2, 3, 4].map(image).concat(video);
  const { estimate, clock } = await setup({ deps: { usage: { recentDurations: async () => latest } } });
  const duration = async () => (await estimate({ model: "sandbox-image" })).duration;
  expect(await duration()).toBeUndefined();
  latest = [...latest, image(5)];
  expect(await duration()).toBeUndefined();
  clock.advance(5_000);
  expect(await duration()).toEqual({ p50Ms: 3, p90Ms: 5 });
});

test("an endpoint's own body is translated before it is checked, and refusals are in its words", async () => {
  const toModelBody: EstimateDeps["toModelBody"] = (endpoint, { model }, request) => ({
    body: { model: model.id, n: request.count ?? 1 },
    names: { n: "count" },
    missing: endpoint === "/compat/v1/images/edits" ? ["image"] : [],
  });
  const { estimate } = await setup({ deps: { toModelBody } });
  const { cost, missing, endpoint } = await estimate(
    { model: "sandbox-image", count: 2 },
    { endpoint: "/compat/v1/images/edits" },
  );
  expect([cost?.most, missing, endpoint]).toEqual([
    micros(20_000),
    ["image", "prompt"],
    "/compat/v1/images/edits",
  ]);
  const refused = estimate({ model: "sandbox-image", count: 99 });
  await expect(refused).rejects.toMatchObject({ param: "count" });
});
