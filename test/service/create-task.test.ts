import { afterEach, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { ModelId, ProviderId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import type { NewAccount } from "../../src/domain/ports/account-store.ts";
import type { PutOptions } from "../../src/domain/ports/asset-store.ts";
import { createTaskFeed, createWakeup } from "../../src/runtime/signals.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { type CreateTaskDeps, createCreateTask } from "../../src/service/create-task.ts";
import type { Moderated } from "../../src/service/moderate.ts";
import { rejection } from "../contracts/provider.ts";
import { countingIds, fakeClock, memoryAssets, routingOf, scriptedProvider } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { fakeSecrets } from "../helpers/secrets.ts";
import { ACCOUNT, addAccount, bySystem, keyId } from "../helpers/store.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const PICTURE = new TextEncoder().encode("picture");
const INPUT: PutOptions = { accept: ["image"], maxBytes: 99, sanitize: true };

/** The creates of an image model with these changes, and what was done to files. */
async function setup(
  changes: (model: Model) => Partial<Model>,
  given: Partial<CreateTaskDeps> = {},
  { account, policy = {} }: { account?: Partial<NewAccount>; policy?: KeyPolicy } = {},
) {
  const builtIn = createCatalog().find("sandbox-image");
  if (builtIn === undefined) throw new Error("There is no such model.");
  const model = { ...builtIn, ...changes(builtIn) };
  const store = openEmptyStore();
  stops.push(store.stop);
  await addAccount(store, { id: ACCOUNT, ...account });
  const done: string[] = [];
  const assets = memoryAssets();
  const stage: typeof assets.stage = async (...given) => {
    done.push("staged");
    const staged = await assets.stage(...given);
    return { ...staged, keep: () => staged.keep().then(() => void done.push("kept")) };
  };
  const createTask = createCreateTask({
    ...{ catalog: createCatalog({ models: [model] }), aliases: {}, prices: { rule: () => undefined } },
    ...{ clock: fakeClock(), ids: countingIds(), secrets: fakeSecrets(), feed: createTaskFeed() },
    ...{ accounts: store.accounts, tasks: store.tasks, uploads: store.uploads, assets: { ...assets, stage } },
    egress: {
      refusal: () => undefined,
      fetchMedia: () => Promise.reject(new Error("nothing is fetched")),
      deliver: () => Promise.reject(new Error("nothing is delivered")),
      ask: () => Promise.reject(new Error("nothing is asked")),
    },
    ...{ wakeup: createWakeup(store.tasks), tally: { created() {} }, tellLowBalance() {} },
    queues: { check: () => undefined },
    routing: routingOf(() => true),
    ...{ isAccepting: () => true, trouble: () => undefined },
    ...given,
  });
  const principal = {
    ...{ accountId: ACCOUNT, keyId: keyId(1), keyName: "key", policy, priceMultiplier: 1_000_000 },
  };
  return {
    done,
    store,
    async create(image: string, idempotencyKey?: string) {
      const uploads = new Map([["upload:1", await assets.stage(PICTURE, INPUT)]]);
      const body = { model: model.id, prompt: "A fox", image_url: image };
      const request = {
        ...{ requestId: "req_1", origin: "http://localhost", endpoint: "POST /v1/x" },
        ...{ uploads, idempotencyKey },
      };
      const { taskId } = await createTask({ kind: "image", body, principal, ...request });
      return store.tasks.byId(taskId);
    },
  };
}

const credit = toMicros(1_000_000);
const inline = `data:image/png;base64,${Buffer.from(PICTURE).toString("base64")}`;

test("a request that no route takes, or that has no price, is refused before any of its files is read", async () => {
  const refusals = [
    ({ routes }: Model) => ({
      routes: routes.map((route) => ({ ...route, only: { image_url: false } as const })),
    }),
    ({ price }: Model) => ({ price: { ...price, lines: [] } }),
  ];
  for (const changes of refusals) {
    const { create, done } = await setup(changes);
    for (const image of [inline, "upload:1"]) expect(await rejection(create(image))).toBeInstanceOf(AppError);
    expect(done).toEqual([]);
  }
});

test("none of its files is read where the account cannot pay for a request, or the key's quota is used up", async () => {
  const poor = await setup(() => ({}), {}, { account: { mode: "prepaid" } });
  const spent = await setup(() => ({}), {}, { policy: { quota: { limit: toMicros(1), reset: "total" } } });
  for (const [{ create, done }, limitedBy] of [
    [poor, "balance"],
    [spent, "key_quota"],
  ] as const) {
    for (const image of [inline, "upload:1"])
      expect(await rejection(create(image))).toMatchObject({
        code: "insufficient_quota",
        facts: { limitedBy },
      });
    expect(done).toEqual([]);
  }
});

test("a repeated request has its answer when the account could not pay for it any more", async () => {
  const { create, done, store } = await setup(() => ({}), {}, { account: { mode: "prepaid", credit } });
  const first = await create(inline, "one");
  await store.accounts.credit(ACCOUNT, toMicros(-(credit - Number(first?.held))), "spent", bySystem());
  expect((await create(inline, "one"))?.id).toBe(first!.id);
  expect(done).toEqual(["staged", "kept"]);
});

test("files of a request that a route takes are stored, however they came", async () => {
  const { create, done } = await setup(({ routes }) => ({
    routes: routes.flatMap((route) => [{ ...route, only: { image_url: false } as const }, route]),
  }));
  const input = { role: "image", param: "image_url", source: { kind: "asset", assetId: expect.any(String) } };
  for (const image of [inline, "upload:1"])
    expect(await create(image)).toMatchObject({
      routeIndex: 1,
      request: { mode: "image-to-image", inputs: [input] },
    });
  expect(done).toEqual(["staged", "kept"]);
});

test("a task has the setup of the way that is chosen for it", async () => {
  const routing = routingOf(() => true);
  const choose: typeof routing.choose = (...given) => {
    const chosen = routing.choose(...given);
    return chosen && { ...chosen, setup: "base.safetensors" };
  };
  const { create } = await setup(() => ({}), { routing: { ...routing, choose } });
  expect((await create(inline))?.setup).toBe("base.safetensors");
});

test("a create that stores nothing counts neither as waiting nor against the budget of a dearer route", async () => {
  const [house, cloud] = ["sandbox", "cloud"] as [ProviderId, ProviderId];
  const adapters = [scriptedProvider({ id: house, concurrency: 1 }), scriptedProvider({ id: cloud })];
  const { routing, durations, loads } = createWays({
    ...{ adapters: () => adapters, clock: fakeClock(), random: () => 0.5 },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    routes: {
      troubles: async () => [],
      changedTroubles: async () => [],
      set: async () => {},
      clear: async () => {},
    },
  });
  const { create, store } = await setup(
    ({ routes: [own] }) => ({
      routes: [own!, { provider: cloud, upstreamModel: "dear" }],
      overflow: { to: { provider: cloud }, afterMs: 5_000, mostPerHour: 1 },
    }),
    { routing },
    { account: { mode: "prepaid", credit: toMicros(10_000) } },
  );
  const took = { model: "sandbox-image" as ModelId, mode: "image-to-image" };
  for (const _ of [1, 2, 3]) durations.took(house, "picture", took, 10_000);
  expect(String((await create(inline, "one"))?.lane)).toBe("sandbox");
  for (let i = 0; i < 3; i++) {
    await create(inline, "one");
    expect(await rejection(create(inline))).toMatchObject({ code: "insufficient_quota" });
  }
  expect([loads.queued(house), loads.queued(cloud)]).toEqual([1, 0]);
  await store.accounts.credit(ACCOUNT, toMicros(10_000), "more", bySystem());
  expect(String((await create(inline))?.lane)).toBe("cloud");
});

test("a request that a check refuses keeps nothing: no file, no hold, no task, no idempotency key", async () => {
  let isRefused = true;
  const refusal = new AppError("content_policy_violation", { kind: "content_refused", field: "prompt" });
  const check = async () => {
    if (isRefused) throw refusal;
  };
  const { create, done, store } = await setup(() => ({}), { moderate: { isFor: () => true, check } });
  expect(await rejection(create(inline, "one"))).toBe(refusal);
  expect([done, await store.tasks.counts()]).toEqual([[], { queued: 0, underWay: 0 }]);
  expect(await store.accounts.account(ACCOUNT)).toMatchObject({ held: 0 });
  isRefused = false;
  expect(await create(inline, "one")).toBeDefined();
});

test("a check that may cost something can tell whether a request can be paid", async () => {
  let asked = 0;
  const check = async ({ requireFunds }: Moderated) => {
    await requireFunds?.();
    asked += 1;
  };
  const moderate = { isFor: () => true, check };
  const { create, done } = await setup(() => ({}), { moderate }, { account: { mode: "prepaid" } });
  expect(await rejection(create(inline))).toMatchObject({ code: "insufficient_quota" });
  expect([done, asked]).toEqual([[], 0]);
});

test("a request that was accepted is answered again and not judged again", async () => {
  let count = 0;
  const check = async () => {
    count += 1;
    if (count > 1) throw new AppError("content_policy_violation", { kind: "content_refused" });
  };
  const { create } = await setup(() => ({}), { moderate: { isFor: () => true, check } });
  const first = await create(inline, "one");
  expect(await create(inline, "one")).toEqual(first);
  expect(count).toBe(1);
});

test("a check is asked with the body as the model's schema has it, and not where none applies", async () => {
  const asked: unknown[] = [];
  const check = async ({ body }: Moderated) => void asked.push(body);
  const checked = await setup(() => ({}), { moderate: { isFor: () => true, check } });
  await checked.create(inline);
  expect(asked).toMatchObject([{ model: "sandbox-image", prompt: "A fox", n: 1 }]);
  const free = await setup(() => ({}), { moderate: { isFor: () => false, check } });
  await free.create(inline);
  expect(asked).toHaveLength(1);
});
