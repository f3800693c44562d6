import { describe, expect, test } from "bun:test";
import type { ModelId, TaskId } from "../../src/domain/ids.ts";
import { ProviderError } from "../../src/domain/ports/provider.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { LANE, taskId } from "../helpers/store.ts";

const refusal = (retryAfterMs?: number) =>
  new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "429", { isTooOften: true, retryAfterMs });
const picture = { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] } as const;
const OTHER = { ...MODEL, id: "other" as ModelId, routes: [{ provider: LANE, upstreamModel: "two" }] };
const models = [{ ...MODEL, routes: [{ provider: LANE, upstreamModel: "one" }] }, OTHER];

interface Upstream {
  readonly perMinute?: number;
  readonly limitsByModel?: boolean;
  readonly retryAfterMs?: number;
}

/** An account whose upstream takes so many submissions of one model in a minute, spread over its seconds, and any of the other. */
async function setup({ perMinute = 0, limitsByModel = true, retryAfterMs }: Upstream) {
  const taken: number[] = [];
  const refused: number[] = [];
  const provider = scriptedProvider({
    limitsByModel,
    concurrency: 10,
    submit: async ({ upstreamModel }) => {
      const now = engine.clock.now();
      if (upstreamModel === "two") return picture;
      if (taken.filter((at) => at > now - 1_000).length >= perMinute / 60) {
        refused.push(now);
        throw refusal(retryAfterMs);
      }
      taken.push(now);
      return picture;
    },
  });
  const engine = await createEngine([provider], { models });
  let number = 0;
  return {
    ...{ engine, provider, taken, refused },
    admit: (model: ModelId) => engine.admit({ id: taskId(++number), model }),
    async pass(ms: number, stepMs = 50) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        while ((await engine.scheduler.tick()) > 0);
        engine.clock.advance(stepMs);
      }
    },
  };
}

const completed = async (
  engine: { task(id: TaskId): Promise<{ status: string }> },
  ids: readonly TaskId[],
) => {
  const tasks = await Promise.all(ids.map((id) => engine.task(id)));
  return tasks.filter(({ status }) => status === "completed").length;
};

describe("where the upstream counts each model by itself, a model that it refuses as too often", () => {
  test("slows no other model down", async () => {
    const { engine, admit, pass } = await setup({});
    await admit(MODEL.id);
    await pass(100);
    const others: TaskId[] = [];
    for (let i = 0; i < 20; i++) others.push(await admit(OTHER.id));
    await pass(1_000);
    expect(await completed(engine, others)).toBe(20);
  });

  test("slows others down where it counts them together", async () => {
    const { engine, admit, pass } = await setup({ limitsByModel: false });
    await admit(MODEL.id);
    await pass(100);
    const others: TaskId[] = [];
    for (let i = 0; i < 20; i++) others.push(await admit(OTHER.id));
    await pass(1_000);
    expect(await completed(engine, others)).toBeLessThan(20);
  });

  test("is asked seldom itself, also where it may come again at once", async () => {
    const { admit, pass, refused } = await setup({ retryAfterMs: 0 });
    for (let i = 0; i < 50; i++) await admit(MODEL.id);
    await pass(60_000);
    expect(refused.length).toBeLessThan(25);
  });

  test("is given what it takes, and its waiting tasks are not claimed over and over", async () => {
    const { engine, admit, pass, taken, refused } = await setup({ perMinute: 120 });
    let claims = 0;
    const { claim } = engine.store.tasks;
    engine.deps.tasks.claim = async (query) => {
      const claimed = await claim(query);
      claims += claimed.leases.length;
      return claimed;
    };
    for (let i = 0; i < 300; i++) await admit(MODEL.id);
    await pass(120_000, 100);
    expect(taken.length).toBeGreaterThan(100);
    expect(refused.length).toBeLessThan(30);
    expect(claims).toBeLessThan(300 * 5);
  });

  test("has many waiting tasks claimed seldom, however little it takes", async () => {
    const { engine, admit, pass } = await setup({ perMinute: 60, retryAfterMs: 0 });
    let claims = 0;
    const { claim } = engine.store.tasks;
    engine.deps.tasks.claim = async (query) => {
      const claimed = await claim(query);
      claims += claimed.leases.length;
      return claimed;
    };
    for (let i = 0; i < 300; i++) await admit(MODEL.id);
    await pass(150_000, 250);
    expect(claims).toBeLessThan(300 * 8);
  });

  test("has waiting tasks go before those that come later", async () => {
    const { engine, admit, pass } = await setup({ perMinute: 6_000 });
    engine.deps.pace.tooOften({ lane: LANE, upstreamModel: "one" });
    const waiting: TaskId[] = [];
    for (let i = 0; i < 5; i++) waiting.push(await admit(MODEL.id));
    const later: TaskId[] = [];
    for (let second = 0; second < 40; second++) {
      await pass(900);
      later.push(await admit(MODEL.id));
      await pass(100);
    }
    expect([await completed(engine, waiting), await completed(engine, later)]).toEqual([5, 0]);
  });

  test("is asked freely again when it takes what it gets", async () => {
    const { engine, admit, pass } = await setup({ perMinute: 6_000 });
    const route = { lane: LANE, upstreamModel: "one" };
    engine.deps.pace.tooOften(route);
    expect(engine.deps.pace.perMinute(route)).toBe(6);
    await pass(61_000, 1_000);
    const tasks: TaskId[] = [];
    for (let i = 0; i < 20; i++) tasks.push(await admit(MODEL.id));
    await pass(100);
    expect(await completed(engine, tasks)).toBe(20);
  });
});
