import { expect, test } from "bun:test";
import type { Model } from "../../src/domain/model/model.ts";
import { ProviderError, type Submitted } from "../../src/domain/ports/provider.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { bySystem, newTask, taskId } from "../helpers/store.ts";

const LANE = scriptedProvider().lane;
const ROUTE = { lane: LANE, upstreamModel: "one" };
const SINGLE: Model = {
  ...MODEL,
  routes: MODEL.routes.slice(0, 1),
};
const pictures: Submitted = { kind: "outputs", outputs: [{ kind: "remote", ref: "file" }] };
const OPERATOR = bySystem();

/** Lets everything happen that follows from what was done, without the passing of time. */
async function settle({ scheduler }: Awaited<ReturnType<typeof createEngine>>): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await Bun.sleep(0);
    await scheduler.tick();
  }
}

async function three(engine: Awaited<ReturnType<typeof createEngine>>): Promise<void> {
  for (const number of [1, 2, 3]) await engine.admit({ id: taskId(number) });
}

test.each([
  ["a model", ROUTE],
  ["a whole account", { ...ROUTE, upstreamModel: "" }],
])("tasks that wait for a block of %s go on when it is lifted", async (_, route) => {
  const upstream = scriptedProvider({ submit: async () => pictures });
  const engine = await createEngine([upstream], { models: [SINGLE] });
  await engine.deps.standing.block(route, "by hand", OPERATOR);
  await three(engine);
  await engine.scheduler.tick();
  engine.clock.advance(2_000);
  await settle(engine);
  expect(upstream.submissions).toEqual([]);
  await engine.deps.standing.allow({ ...ROUTE, upstreamModel: "" }, OPERATOR);
  await settle(engine);
  expect(upstream.submissions).toHaveLength(3);
});

test("tasks that wait for a trial go on when it succeeds", async () => {
  const answers = [Promise.withResolvers<Submitted>()];
  const upstream = scriptedProvider({ submit: async () => answers.pop()?.promise ?? pictures });
  const [trial] = answers;
  const engine = await createEngine([upstream], { models: [SINGLE] });
  for (let i = 0; i < 5; i++)
    engine.deps.standing.failed({ ...ROUTE, taskId: taskId(90 + i) }, "submission", "500");
  engine.clock.advance(30_000);
  await three(engine);
  const first = engine.scheduler.tick();
  await Bun.sleep(1);
  engine.clock.advance(5_000);
  expect(upstream.submissions).toHaveLength(1);
  trial?.resolve(pictures);
  await first;
  await settle(engine);
  expect(upstream.submissions).toHaveLength(3);
});

test("tasks that wait at one account go on when a route to another one opens", async () => {
  const ids = MODEL.routes.map(({ provider }) => provider);
  const [one, two] = ids.map((id) => scriptedProvider({ id, submit: async () => pictures }));
  const engine = await createEngine([one!, two!]);
  for (const each of [one!.lane, two!.lane])
    await engine.deps.standing.block({ lane: each, upstreamModel: "" }, "by hand", OPERATOR);
  await three(engine);
  await engine.scheduler.tick();
  await engine.deps.standing.allow({ lane: two!.lane, upstreamModel: "" }, OPERATOR);
  await settle(engine);
  expect([one, two].map((each) => each?.submissions.length)).toEqual([0, 3]);
});

test("a task whose upstream named a time waits for it when a route opens", async () => {
  const busy = new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "503", { retryAfterMs: 20_000 });
  let isBusy = true;
  const upstream = scriptedProvider({
    submit: async () => {
      if (isBusy) throw busy;
      return pictures;
    },
  });
  const engine = await createEngine([upstream], { models: [SINGLE] });
  await engine.admit({ id: taskId(1) });
  await engine.scheduler.tick();
  isBusy = false;
  await engine.deps.standing.block(ROUTE, "by hand", OPERATOR);
  await engine.deps.standing.allow(ROUTE, OPERATOR);
  await settle(engine);
  expect(upstream.submissions).toHaveLength(1);
  expect(await engine.store.tasks.hasten({ lane: LANE, models: [newTask().model] }, engine.clock.now())).toBe(
    0,
  );
  engine.clock.advance(20_000);
  await settle(engine);
  expect(upstream.submissions).toHaveLength(2);
});
