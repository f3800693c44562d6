import { describe, expect, test } from "bun:test";
import type { LaneId, ModelId, ProviderId, TaskId } from "../../src/domain/ids.ts";
import { type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import { WHOLE_ACCOUNT } from "../../src/domain/ports/route-store.ts";
import { laneCapacities } from "../../src/scheduler/routing/lanes.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { createEngine, MODEL, type ScriptedProvider, scriptedProvider } from "../helpers/engine.ts";
import { LANE, NOW, newTask, taskId } from "../helpers/store.ts";

const SECOND = `${LANE}/second` as LaneId;
const account = (lane: LaneId, script: Partial<ProviderAdapter> = {}): ScriptedProvider =>
  Object.assign(scriptedProvider(script), { lane });
const busy = (retryAfterMs?: number) =>
  new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "429", { retryAfterMs });
const pictures = { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] } as const;

type Engine = Awaited<ReturnType<typeof createEngine>>;
const admitMany = (engine: Engine, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => engine.admit({ id: taskId(i + 1) })));
const attemptsOf = async (engine: Engine, id: TaskId) =>
  (await engine.store.tasks.attempts(id)).map(({ lane, state }) => `${lane} ${state}`);

describe("an account that answers 429 with Retry-After", () => {
  test("pauses for all its tasks, and fails none", async () => {
    let isOpen = false;
    const provider = account(LANE, {
      concurrency: 1,
      submit: async () => {
        if (!isOpen) throw busy(30_000);
        return pictures;
      },
    });
    const engine = await createEngine([provider]);
    const tasks = await admitMany(engine, 3);
    await engine.scheduler.tick();
    expect(provider.submissions).toHaveLength(1);
    engine.clock.advance(29_999);
    expect(await engine.scheduler.tick()).toBe(0);
    isOpen = true;
    engine.clock.advance(1);
    await engine.runToEnd();
    expect(provider.submissions).toHaveLength(4);
    for (const id of tasks) expect((await engine.task(id)).status).toBe("completed");
  });

  test("goes on when its pause ends while tasks are claimed", async () => {
    const { promise: goesOn, resolve: second } = Promise.withResolvers<void>();
    const { promise: waits, resolve: timed } = Promise.withResolvers<void>();
    const provider = account(LANE, {
      concurrency: 1,
      submit: async () => {
        if (provider.submissions.length === 1) throw busy(1_000);
        second();
        return pictures;
      },
    });
    const engine = await createEngine([provider]);
    const { clock, store, deps } = engine;
    let claimTakesMs = 0;
    const scheduler = createScheduler(
      {
        ...deps,
        tasks: {
          ...store.tasks,
          async claim(query) {
            const claimed = await store.tasks.claim(query);
            clock.advance(claimTakesMs);
            return claimed;
          },
        },
        clock: {
          ...clock,
          // Real timers may be early, too, because they leave out fractions of a millisecond.
          after(delayMs, callback) {
            if (delayMs === 1_000) timed();
            return clock.after(delayMs - 1, callback);
          },
        },
      },
      { concurrency: 100, steps: 100, leaseMs: 30_000, lanes: () => laneCapacities([provider]) },
    );
    await admitMany(engine, 2);
    await scheduler.start();
    await waits;
    claimTakesMs = 1;
    clock.advance(999);
    await goesOn;
    await scheduler.drain(0);
  });

  test("fails no task however often it does so", async () => {
    let refusals = 0;
    const provider = account(LANE, {
      submit: async () => {
        refusals += 1;
        if (refusals <= 6) throw busy(1_000);
        return pictures;
      },
    });
    const engine = await createEngine([provider]);
    const id = await engine.admit();
    await engine.runToEnd(200);
    expect((await engine.task(id)).status).toBe("completed");
  });

  test("hands its tasks to another account of its provider, which goes on", async () => {
    const first = account(LANE, {
      submit: async () => {
        throw busy(600_000);
      },
    });
    const second = account(SECOND);
    const engine = await createEngine([first, second]);
    const [one, two] = await admitMany(engine, 2);
    await engine.runToEnd();
    expect([(await engine.task(one!)).status, (await engine.task(two!)).status]).toEqual([
      "completed",
      "completed",
    ]);
    expect(second.submissions).toHaveLength(2);
    expect(engine.clock.now() - NOW).toBeLessThan(60_000);
  });

  test.each([
    ["429", { retryAfterMs: 300_000, isTooOften: true }],
    ["503", { retryAfterMs: 300_000, isUnable: true }],
  ])("to a submission (%s) still gives the results of what it makes", async (_, details) => {
    let isDone = false;
    const provider = account(LANE, {
      submit: async () => {
        if (provider.submissions.length > 1)
          throw new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "no", details);
        return { kind: "operation", operation: "job", pollAfterMs: 1_000 };
      },
      poll: async () => (isDone ? { kind: "succeeded", outputs: pictures.outputs } : { kind: "pending" }),
    });
    const engine = await createEngine([provider]);
    const made = await engine.admit({ id: taskId(1) });
    await engine.scheduler.tick();
    const waiting = await engine.admit({ id: taskId(2) });
    await engine.scheduler.tick();
    isDone = true;
    engine.clock.advance(1_000);
    await engine.scheduler.tick();
    expect((await engine.task(made)).status).toBe("completed");
    engine.clock.advance(58_000);
    await engine.scheduler.tick();
    expect((await engine.task(waiting)).status).toBe("processing");
    expect(provider.submissions).toHaveLength(2);
  });

  test("to a poll lets no other task of it be asked for", async () => {
    let polls = 0;
    let jobs = 0;
    const provider = account(LANE, {
      submit: async () => ({ kind: "operation", operation: ++jobs, pollAfterMs: jobs * 100 }),
      async poll() {
        polls += 1;
        if (polls === 1) throw busy(30_000);
        return { kind: "succeeded", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
      },
    });
    const engine = await createEngine([provider]);
    const tasks = await admitMany(engine, 2);
    await engine.scheduler.tick();
    for (const ms of [100, 100, 29_000]) {
      engine.clock.advance(ms);
      await engine.scheduler.tick();
      expect(polls).toBe(1);
    }
    await engine.runToEnd();
    expect(polls).toBe(3);
    for (const id of tasks) expect(await engine.task(id)).toMatchObject({ status: "completed" });
  });
});

describe("a model whose upstream cannot answer for a while", () => {
  const unable = new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "503", {
    ...{ retryAfterMs: 600_000, isUnable: true },
  });
  const oftenThere = new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "429", {
    ...{ retryAfterMs: 600_000, isTooOften: true },
  });
  const upstreamModel = "two";
  const models = [MODEL, { ...MODEL, id: "other" as ModelId, routes: [{ provider: LANE, upstreamModel }] }];

  test.each([
    ["answers 503 with Retry-After", unable, false],
    ["answers 429, by models", oftenThere, true],
  ])("and %s pauses alone, also for polls", async (_, error, limitsByModel) => {
    const provider = account(LANE, {
      limitsByModel,
      submit: async ({ upstreamModel: asked }) => {
        if (asked === upstreamModel) return { kind: "operation", operation: "job", pollAfterMs: 100 };
        throw error;
      },
      poll: async () => ({ kind: "succeeded", ...{ outputs: pictures.outputs } }),
    });
    const engine = await createEngine([provider], { models });
    const [paused, other] = [taskId(1), taskId(2)];
    await engine.admit({ id: paused });
    await engine.scheduler.tick();
    await engine.admit({ id: other, model: models[1]!.id });
    for (let i = 0; i < 5; i++) {
      await engine.scheduler.tick();
      engine.clock.advance(100);
    }
    expect([(await engine.task(other)).status, (await engine.task(paused)).status]).toEqual([
      "completed",
      "processing",
    ]);
    expect(provider.submissions).toHaveLength(2);
    expect(engine.deps.routing.choose(MODEL, newTask().request)?.waitMs).toBeGreaterThan(599_000);
  });
});

describe("a model that waits with many tasks", () => {
  const upstreamModel = "two";
  const models = [MODEL, { ...MODEL, id: "other" as ModelId, routes: [{ provider: LANE, upstreamModel }] }];
  const unable = new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "503", {
    ...{ retryAfterMs: 20_000, isUnable: true },
  });

  test("does not have each claimed before another model's of the same caller is sent", async () => {
    const provider = account(LANE, {
      rates: { submissionsPerMinute: 60 },
      submit: async ({ upstreamModel: asked }) => {
        if (asked !== upstreamModel) throw unable;
        return pictures;
      },
    });
    const engine = await createEngine([provider], { models });
    for (let number = 1; number <= 100; number++) await engine.admit({ id: taskId(number) });
    const other = await engine.admit({ id: taskId(101), model: models[1]!.id });
    for (let second = 0; second < 5; second++) {
      await engine.scheduler.tick();
      engine.clock.advance(1_000);
    }
    expect((await engine.task(other)).status).toBe("completed");
    expect(provider.submissions).toHaveLength(2);
    // All are due again soon after the pause.
    engine.clock.advance(17_000);
    expect((await engine.store.tasks.lanes())[0]?.queued).toBe(100);
    expect(await engine.scheduler.tick()).toBe(1);
    expect(provider.submissions).toHaveLength(3);
  });

  test("has those claimed that may go another way, one by one", async () => {
    const provider = account(LANE, {
      submit: async () => {
        throw unable;
      },
    });
    const second = account("second" as LaneId, { id: "second" as ProviderId, submit: async () => pictures });
    const engine = await createEngine([provider, second]);
    for (let number = 1; number <= 5; number++) await engine.admit({ id: taskId(number) });
    for (let i = 0; i < 5; i++) await engine.scheduler.tick();
    expect(second.submissions).toHaveLength(5);
  });
});

test("a job whose upstream names a time after its deadline for the first poll is polled at its deadline", async () => {
  const provider = account(LANE, {
    submit: async () => ({ kind: "operation", operation: {}, pollAfterMs: 600_000 }),
    poll: async () => ({ kind: "pending" }),
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 60_000 }] });
  const id = await engine.admit();
  await engine.scheduler.tick();
  engine.clock.advance(60_000);
  await engine.scheduler.tick();
  expect((await engine.task(id)).error?.code).toBe("DEADLINE_EXCEEDED");
});

test.each([
  ["the model", { isUnable: true }],
  ["the whole account", { isTooOften: true }],
])("a task whose upstream pauses %s until after its deadline ends at its deadline", async (_what, what) => {
  const busy = { retryAfterMs: 600_000, ...what };
  const provider = account(LANE, {
    submit: async () => {
      throw new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "503", busy);
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 60_000 }] });
  const id = await engine.admit();
  await engine.scheduler.tick();
  engine.clock.advance(59_999);
  await engine.scheduler.tick();
  expect((await engine.task(id)).status).toBe("processing");
  engine.clock.advance(1);
  await engine.scheduler.tick();
  expect((await engine.task(id)).error?.code).toBe("DEADLINE_EXCEEDED");
});

describe("the rates of an account", () => {
  test("of submissions keep tasks in the queue, without an attempt", async () => {
    const provider = account(LANE, { rates: { submissionsPerMinute: 6 }, submit: async () => pictures });
    const engine = await createEngine([provider]);
    const tasks = await admitMany(engine, 3);
    await engine.scheduler.tick();
    await engine.scheduler.tick();
    expect(provider.submissions).toHaveLength(1);
    expect(await engine.task(tasks[2]!)).toMatchObject({ attempts: 0, failures: 0, stage: "queued" });
    for (const count of [2, 3]) {
      engine.clock.advance(10_000);
      await engine.scheduler.tick();
      expect(provider.submissions).toHaveLength(count);
    }
  });

  test("wake the scheduler when the next submission may go", async () => {
    const provider = account(LANE, { rates: { submissionsPerMinute: 6 }, submit: async () => pictures });
    const engine = await createEngine([provider]);
    const tasks = await admitMany(engine, 2);
    const over = (id: TaskId) =>
      new Promise<void>((resolve) => {
        engine.deps.feed.subscribe(id, (isOver: boolean) => isOver && resolve());
      });
    const [first, second] = tasks.map(over);
    await engine.scheduler.start();
    await first;
    let isOver = false;
    void second?.then(() => {
      isOver = true;
    });
    // Nothing wakes the scheduler but its timer.
    for (let turn = 0; turn < 100 && !isOver; turn++) {
      engine.clock.advance(1_000);
      await new Promise(setImmediate);
    }
    await second;
    expect(provider.submissions).toHaveLength(2);
    await engine.scheduler.drain(0);
  });

  test("of polls give every task its turn, and count as no failure", async () => {
    const asked: unknown[] = [];
    const provider = account(LANE, {
      rates: { pollsPerMinute: 60 },
      async poll(operation) {
        asked.push(operation);
        return { kind: "pending" };
      },
    });
    const engine = await createEngine([provider]);
    await admitMany(engine, 3);
    await engine.scheduler.tick();
    engine.clock.advance(200);
    for (let turn = 0; turn < 6; turn++) {
      await engine.scheduler.tick();
      engine.clock.advance(1_100);
    }
    const jobs = [{ job: 1 }, { job: 2 }, { job: 3 }];
    for (const job of jobs) expect(asked.filter((each) => Bun.deepEquals(each, job))).toHaveLength(2);
  });
});

test("after a restart, accounts are as busy as they were before it", async () => {
  const provider = account(LANE, { concurrency: 2, poll: async () => ({ kind: "pending" }) });
  const engine = await createEngine([provider]);
  await admitMany(engine, 3);
  await engine.scheduler.tick();
  const { loads } = createWays({
    ...{ adapters: () => [provider], routes: engine.store.routes },
    ...{ clock: engine.clock, log: engine.deps.log, random: () => 0.5 },
  });
  const next = createScheduler(
    { ...engine.deps, loads },
    { concurrency: 100, steps: 100, leaseMs: 30_000, lanes: () => [] },
  );
  await next.start();
  expect([loads.share(LANE), loads.queued(LANE), loads.turns(LANE)]).toEqual([1.5, 1, 1]);
  await next.drain(0);
});

describe("a task", () => {
  test("goes to the account with the most room", async () => {
    const [first, second] = [account(LANE, { concurrency: 1 }), account(SECOND, { concurrency: 3 })];
    const engine = await createEngine([first, second]);
    await admitMany(engine, 4);
    await engine.scheduler.tick();
    expect([first.submissions.length, second.submissions.length]).toEqual([1, 3]);
  });

  test("whose answer was lost is sent again by the same account only", async () => {
    let sent = 0;
    const first = account(LANE, {
      submitIsIdempotent: true,
      concurrency: 1,
      submit: async () => {
        sent += 1;
        if (sent === 1) throw new ProviderError("unknown", "UPSTREAM_ERROR", "cut");
        return pictures;
      },
    });
    const second = account(SECOND, { submitIsIdempotent: true });
    const engine = await createEngine([first, second]);
    const id = await engine.admit();
    await engine.runToEnd();
    expect(await attemptsOf(engine, id)).toEqual([`${LANE} done`]);
    expect(second.submissions).toHaveLength(0);
  });

  test("is asked for as it was begun, though the settings have changed", async () => {
    const asked: unknown[] = [];
    const at = (base: string): ProviderAdapter =>
      account(LANE, {
        terms: () => ({ base }),
        withTerms: (terms) => at((terms as { base: string }).base),
        async poll() {
          asked.push(base);
          return { kind: "succeeded", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
        },
      });
    const adapters = [at("https://old.example")];
    const engine = await createEngine(adapters);
    const id = await engine.admit();
    await engine.scheduler.tick();
    adapters[0] = at("https://new.example");
    await engine.runToEnd();
    expect((await engine.task(id)).status).toBe("completed");
    expect(asked).toEqual(["https://old.example"]);
  });

  test("under way waits for an account that is gone from the settings", async () => {
    const adapters = [account(LANE), account(SECOND)];
    const engine = await createEngine(adapters);
    const id = await engine.admit({ lane: SECOND });
    await engine.scheduler.tick();
    const gone = adapters.pop()!;
    engine.clock.advance(1_000);
    await engine.scheduler.tick();
    expect(await engine.task(id)).toMatchObject({ stage: "running", failures: 0, lane: SECOND });
    adapters.push(gone);
    await engine.runToEnd();
    expect((await engine.task(id)).status).toBe("completed");
  });
});

test("the end of a task makes room in a full lane while another one is idle", async () => {
  const gates: PromiseWithResolvers<void>[] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const started: PromiseWithResolvers<void>[] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  let made = 0;
  const full = account(LANE, {
    concurrency: 1,
    submit: async () => {
      const index = made++;
      started[index]?.resolve();
      await gates[index]?.promise;
      return pictures;
    },
  });
  const idle = account("second" as LaneId, { id: "second" as never });
  const engine = await createEngine([full, idle]);
  await admitMany(engine, 3);
  await engine.scheduler.start();
  for (const [index, gate] of gates.entries()) {
    await started[index]?.promise;
    gate.resolve();
  }
  expect(made).toBe(3);
  await engine.scheduler.drain(0);
});

test("an account does not take over again and again what may go to the full one alone", async () => {
  const first = account(LANE, { concurrency: 1, poll: async () => ({ kind: "pending" }) });
  const second = account(SECOND);
  const engine = await createEngine([first, second]);
  const { request } = newTask();
  const pinned = { ...request, routing: { route: { provider: LANE, account: LANE } } };
  for (const number of [1, 2]) await engine.admit({ id: taskId(number), request: pinned });
  await engine.scheduler.tick();
  expect(first.submissions).toHaveLength(1);
  expect([await engine.scheduler.tick(), await engine.scheduler.tick()]).toEqual([0, 0]);
  // It looks again after a while: what waits may be another task by then.
  engine.clock.advance(1_000);
  expect(await engine.scheduler.tick()).toBeGreaterThan(0);
  expect(second.submissions).toHaveLength(0);
});

test("a job that its upstream puts off again and again ends soon after its deadline", async () => {
  const away = { retryAfterMs: 600_000, isUnable: true };
  const provider = account(LANE, {
    submit: async () => ({ kind: "operation", operation: {}, pollAfterMs: 1_000 }),
    poll: async () => {
      throw new ProviderError("retry", "UPSTREAM_ERROR", "503", away);
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 60_000 }] });
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "DEADLINE_EXCEEDED" } });
  expect(engine.clock.now() - NOW).toBe(60_000);
});

test("a job whose account is paused until after its deadline is asked after at its deadline, once", async () => {
  const asked: number[] = [];
  const provider = account(LANE, {
    submit: async () => ({ kind: "operation", operation: {}, pollAfterMs: 1_000 }),
    async poll() {
      asked.push(engine.clock.now() - NOW);
      return { kind: "pending" };
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 60_000 }] });
  const id = await engine.admit();
  await engine.scheduler.tick();
  engine.deps.pace.slow({ lane: LANE, upstreamModel: WHOLE_ACCOUNT }, 600_000);
  await engine.runToEnd();
  expect((await engine.task(id)).error?.code).toBe("DEADLINE_EXCEEDED");
  expect(asked).toEqual([60_000]);
});

test("a submission whose answer was lost ends at its deadline, where its account is paused until later", async () => {
  const provider = account(LANE, {
    submitIsIdempotent: true,
    submit: async () => {
      throw new ProviderError("unknown", "UPSTREAM_ERROR", "504", { retryAfterMs: 600_000 });
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 60_000 }] });
  const id = await engine.admit();
  await engine.scheduler.tick();
  engine.deps.pace.slow({ lane: LANE, upstreamModel: WHOLE_ACCOUNT }, 600_000);
  engine.clock.advance(60_000);
  await engine.scheduler.tick();
  expect((await engine.task(id)).error?.code).toBe("DEADLINE_EXCEEDED");
  expect(provider.submissions).toHaveLength(1);
});

test("a job that was put off until after its deadline is asked after first", async () => {
  let asked = 0;
  const provider = account(LANE, {
    submit: async () => ({ kind: "operation", operation: {}, pollAfterMs: 1_000 }),
    async poll() {
      asked += 1;
      if (asked > 1) return { kind: "succeeded", outputs: pictures.outputs };
      throw new ProviderError("retry", "UPSTREAM_ERROR", "503", { retryAfterMs: 600_000, isUnable: true });
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 60_000 }] });
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
});

test("a job whose upstream says again and again to come back at once is asked after more and more seldom", async () => {
  let polls = 0;
  const provider = account(LANE, {
    submit: async () => ({ kind: "operation", operation: {}, pollAfterMs: 1_000 }),
    async poll() {
      polls += 1;
      throw new ProviderError("retry", "UPSTREAM_ERROR", "429", { retryAfterMs: 0 });
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 900_000 }] });
  await engine.admit();
  for (let passed = 0; passed < 120_000; passed += 250) {
    await engine.scheduler.tick();
    engine.clock.advance(250);
  }
  expect(polls).toBeGreaterThan(5);
  expect(polls).toBeLessThan(15);
});
