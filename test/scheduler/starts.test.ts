import { expect, test } from "bun:test";
import type { ProviderAdapter } from "../../src/domain/ports/provider.ts";
import { type Admission, StorageError } from "../../src/domain/ports/task-store.ts";
import { laneCapacities } from "../../src/scheduler/routing/lanes.ts";
import { createScheduler, type SchedulerOptions } from "../../src/scheduler/scheduler.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";
import { accountId, addAccount, LANE, micros, newTask, taskId } from "../helpers/store.ts";

type Engine = Awaited<ReturnType<typeof createEngine>>;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** An upstream that takes a task when it is told to. */
function patientProvider(given: Partial<ProviderAdapter> = {}) {
  const taken: (() => void)[] = [];
  const provider = scriptedProvider({
    ...given,
    async submit() {
      await new Promise<void>((resolve) => void taken.push(resolve));
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  return { provider, take: () => taken.shift()?.() };
}

/** A scheduler with nothing to do, whose store tells what it is asked to do. */
async function idle(provider: ProviderAdapter, options: Partial<SchedulerOptions> = {}) {
  const engine = await createEngine([provider], { options: { beginsNew: true, ...options } });
  const done: string[] = [];
  const { claim, begin } = engine.deps.tasks;
  Object.assign(engine.deps, {
    tasks: {
      ...engine.deps.tasks,
      claim: (query: Parameters<typeof claim>[0]) => {
        done.push("claim");
        return claim(query);
      },
      begin: (...of: Parameters<typeof begin>) => {
        done.push("begin");
        return begin(...of);
      },
    },
  });
  await engine.scheduler.start();
  await turn();
  await turn();
  done.length = 0;
  const create = (task: Parameters<typeof newTask>[0] = {}) =>
    engine.scheduler.admit({ task: newTask({ createdAt: engine.clock.now(), ...task }), assets: [] });
  return { engine, done, create };
}

async function ended({ store, scheduler }: Engine, number = 1) {
  await scheduler.drain(60_000);
  return await store.tasks.byId(taskId(number));
}

test("a create on an idle server is begun by its own commit, known before its upstream is, and answered after that is asked", async () => {
  let known: unknown;
  let answered = false;
  const provider = scriptedProvider({
    async submit({ taskId: id, attempt }) {
      expect(answered).toBe(false);
      const { stage, attempts } = (await engine.store.tasks.byId(id))!;
      known = { stage, attempts, state: (await engine.store.tasks.attempt(attempt))?.state };
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  const { engine, done, create } = await idle(provider);
  expect(await create()).toEqual({ kind: "admitted", isLow: false, isBegun: true });
  answered = true;
  expect(provider.submissions).toHaveLength(1);
  expect(done).toEqual([]);
  expect(await ended(engine)).toMatchObject({ status: "completed", attempts: 1 });
  expect(known).toEqual({ stage: "submitting", attempts: 1, state: "intent" });
  expect(engine.told.stages[0]).toEqual({ stage: "queued", lane: LANE, durationMs: 0 });
});

test("a create that could not be stored is not sent, and the next one is begun", async () => {
  const provider = scriptedProvider();
  const { engine, create } = await idle(provider);
  const { admit } = engine.deps.tasks;
  Object.assign(engine.deps.tasks, {
    admit: async () => {
      throw new StorageError("full", "The disk is full.");
    },
  });
  expect(await create().catch((error: unknown) => error)).toBeInstanceOf(StorageError);
  expect(provider.submissions).toHaveLength(0);
  Object.assign(engine.deps.tasks, { admit });
  await turn();
  await turn();
  expect(await create()).toMatchObject({ isBegun: true });
  expect(provider.submissions).toHaveLength(1);
  await ended(engine);
});

test("what was stored as begun and never sent, because the process died, is not sent by the next one", async () => {
  const provider = scriptedProvider();
  const { engine, create } = await idle(provider);
  const { admit } = engine.deps.tasks;
  // The commit happens, and nothing after it.
  const died = Promise.withResolvers<void>();
  Object.assign(engine.deps.tasks, {
    admit: async (admission: Admission) => {
      await admit(admission);
      died.resolve();
      return new Promise(() => {});
    },
  });
  void create();
  await died.promise;
  const options = { concurrency: 1, steps: 1, leaseMs: 30_000, lanes: () => laneCapacities([provider]) };
  const next = createScheduler({ ...engine.deps, tasks: engine.store.tasks }, options);
  expect(await engine.store.tasks.rescue(engine.clock.now())).toBe(1);
  engine.clock.advance(60_000);
  await next.tick();
  expect(provider.submissions).toHaveLength(0);
  expect(await engine.task(taskId(1))).toMatchObject({
    status: "failed",
    attempts: 1,
    error: { code: "OUTCOME_UNKNOWN" },
    charged: 0,
  });
});

test("creates that come together begin by themselves, each once, without a claim", async () => {
  const { provider, take } = patientProvider();
  const { engine, done, create } = await idle(provider, { concurrency: 8, steps: 8 });
  const results = await Promise.all([1, 2, 3].map((number) => create({ number })));
  expect(results.map((result) => "isBegun" in result)).toEqual([true, true, true]);
  expect(done).toEqual([]);
  expect(provider.submissions.map((each) => each.taskId).toSorted()).toEqual([1, 2, 3].map(taskId));
  for (let i = 0; i < 3; i++) take();
  await ended(engine);
});

test("of creates that come together, no more begin by themselves than there are steps", async () => {
  const { provider, take } = patientProvider();
  const { engine, create } = await idle(provider, { concurrency: 8, steps: 2 });
  const results = await Promise.all([1, 2, 3].map((number) => create({ number })));
  expect(results.map((result) => "isBegun" in result)).toEqual([true, true, false]);
  expect(provider.submissions).toHaveLength(2);
  take();
  while (provider.submissions.length < 3) await turn();
  for (let i = 0; i < 2; i++) take();
  expect(await ended(engine, 3)).toMatchObject({ status: "completed" });
});

test("a drain waits for all that are being stored", async () => {
  const { provider, take } = patientProvider();
  const { engine, create } = await idle(provider, { concurrency: 8, steps: 8 });
  const creating = [1, 2, 3].map((number) => create({ number }));
  const drained = engine.scheduler.drain(60_000);
  await Promise.all(creating);
  expect(provider.submissions).toHaveLength(3);
  for (let i = 0; i < 3; i++) take();
  await drained;
  expect(await engine.store.tasks.counts()).toEqual({ queued: 0, underWay: 0 });
});

test("a create that finds no room waits for the end of the task that has it", async () => {
  const { provider, take } = patientProvider();
  const { engine, create } = await idle(provider, { concurrency: 1 });
  expect(await create({ number: 1 })).toMatchObject({ isBegun: true });
  expect(await create({ number: 2 })).toEqual({ kind: "admitted", isLow: false });
  expect(await create({ number: 3 })).toEqual({ kind: "admitted", isLow: false });
  expect(provider.submissions).toHaveLength(1);
  for (const count of [2, 3]) {
    take();
    while (provider.submissions.length < count) await turn();
    expect(provider.submissions).toHaveLength(count);
  }
  take();
  expect(await ended(engine, 3)).toMatchObject({ status: "completed" });
});

test("a create waits for a step while all are taken", async () => {
  const { provider, take } = patientProvider();
  const { engine, create } = await idle(provider, { steps: 1 });
  await create({ number: 1 });
  expect(await create({ number: 2 })).toEqual({ kind: "admitted", isLow: false });
  expect(provider.submissions).toHaveLength(1);
  take();
  while (provider.submissions.length < 2) await turn();
  take();
  expect(await ended(engine, 2)).toMatchObject({ status: "completed" });
});

test("a create that is refused uses up no right to submit, and is forgotten by what counts who waits", async () => {
  const provider = scriptedProvider({ rates: { submissionsPerMinute: 1 } });
  const { engine, done, create } = await idle(provider);
  await addAccount(engine.store, { id: accountId(2), mode: "prepaid", credit: micros(1) });
  const refused = { number: 1, accountId: accountId(2) };
  engine.deps.loads.assigned(LANE);
  expect(await create(refused)).toMatchObject({ kind: "insufficient_quota" });
  expect(engine.deps.pace.starts(LANE)).toBe(1);
  await turn();
  await turn();
  expect(done).toEqual(["claim"]);
  expect(engine.deps.loads.queued(LANE)).toBe(0);
  // One whose rate is counted is claimed.
  expect(await create({ number: 2 })).toEqual({ kind: "admitted", isLow: false });
  expect(await ended(engine, 2)).toMatchObject({ attempts: 1 });
});

test("a create that is refused uses up no right to submit its model, where that alone gets too many requests", async () => {
  const { engine, create } = await idle(scriptedProvider());
  await addAccount(engine.store, { id: accountId(2), mode: "prepaid", credit: micros(1) });
  const route = { lane: LANE, upstreamModel: "one" };
  engine.deps.pace.tooOften(route);
  expect(await create({ number: 1, accountId: accountId(2) })).toMatchObject({ kind: "insufficient_quota" });
  expect(engine.deps.pace.submit(route)).toBe(0);
});

test("a refused create at an account without a rate leads to a claim, which counts anew", async () => {
  const provider = scriptedProvider();
  const { engine, done, create } = await idle(provider);
  await addAccount(engine.store, { id: accountId(2), mode: "prepaid", credit: micros(1) });
  engine.deps.loads.assigned(LANE);
  expect(await create({ accountId: accountId(2) })).toMatchObject({ kind: "insufficient_quota" });
  await turn();
  await turn();
  expect(done).toEqual(["claim"]);
  expect(engine.deps.loads.queued(LANE)).toBe(0);
  await ended(engine);
});

test("a task with an input, and one whose model has a route in trouble, is claimed", async () => {
  const provider = scriptedProvider();
  const { engine, create } = await idle(provider);
  const request = newTask().request;
  const input = { role: "image", source: { kind: "url", url: "https://example.com/a.png" } };
  const withInput = { ...request, inputs: [input] } as unknown as typeof request;
  expect(await create({ number: 1, request: withInput })).toEqual({ kind: "admitted", isLow: false });
  await ended(engine);
  const other = await idle(scriptedProvider());
  other.engine.deps.standing.refused({ lane: LANE, upstreamModel: "two" }, "submission", {
    kind: "route",
    detail: "no",
  });
  expect(await other.create({ number: 2 })).toEqual({ kind: "admitted", isLow: false });
  await ended(other.engine);
});

test("a drain waits for a task that is being stored, and none begins by itself after it", async () => {
  const { provider, take } = patientProvider();
  const { engine, create } = await idle(provider);
  const creating = create({ number: 1 });
  const drained = engine.scheduler.drain(60_000);
  expect(await creating).toMatchObject({ isBegun: true });
  expect(provider.submissions).toHaveLength(1);
  take();
  await drained;
  expect(await engine.task(taskId(1))).toMatchObject({ status: "completed" });
  expect(await create({ number: 2 })).toEqual({ kind: "admitted", isLow: false });
  expect(provider.submissions).toHaveLength(1);
});

test("nothing begins by itself before the tasks of an earlier process are taken over", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider], { options: { beginsNew: true } });
  const admission = { task: newTask({ createdAt: engine.clock.now() }), assets: [] };
  expect(await engine.scheduler.admit(admission)).toEqual({ kind: "admitted", isLow: false });
  const starting = engine.scheduler.start();
  expect(await engine.scheduler.admit({ ...admission, task: newTask({ number: 2 }) })).toEqual({
    kind: "admitted",
    isLow: false,
  });
  expect(await starting).toBe(0);
  await ended(engine);
});
