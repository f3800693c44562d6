import { expect, test } from "bun:test";
import type { PollResult } from "../../src/domain/ports/provider.ts";
import type { Transition } from "../../src/domain/task/transition.ts";
import { Hooks } from "../../src/scheduler/hooks.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { Traces } from "../../src/scheduler/traces.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";
import { LANE } from "../helpers/store.ts";

const DONE: PollResult = { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };

/** A provider that takes the address, and jobs that take `jobMs`. It remembers when it was asked. */
async function hooked({
  jobMs = Number.POSITIVE_INFINITY,
  isHooked = true,
  pollsPerMinute,
}: {
  jobMs?: number;
  isHooked?: boolean;
  pollsPerMinute?: number;
} = {}) {
  const asked: number[] = [];
  let during = async () => {};
  const provider = scriptedProvider({
    rates: { pollsPerMinute },
    submit: async () => ({ kind: "operation", operation: "job", isHooked }),
    async poll() {
      asked.push(engine.clock.elapsed());
      await during();
      return engine.clock.elapsed() >= jobMs ? DONE : { kind: "pending" };
    },
  });
  const engine = await createEngine([provider]);
  let tasks = 0;
  return {
    ...{ engine, asked, provider },
    whileAsking: (act: () => Promise<void>) => {
      during = act;
    },
    async begin() {
      tasks += 1;
      const id = await engine.admit({ number: tasks });
      await engine.scheduler.tick();
      const [attempt] = await engine.store.tasks.attempts(id);
      if (attempt === undefined) throw new Error("Nothing was submitted.");
      return { id, attempt };
    },
    /** Lets time pass, with every question that comes due. */
    async pass(untilMs: number, stepMs = 50) {
      while (engine.clock.elapsed() < untilMs) {
        engine.clock.advance(Math.min(stepMs, untilMs - engine.clock.elapsed()));
        await engine.scheduler.tick();
      }
    },
  };
}

test("the upstream is told an address of the attempt", async () => {
  const { provider, begin } = await hooked();
  const { attempt } = await begin();
  expect(provider.submissions[0]?.hookUrl).toBe(`https://svc.example.com/hooks/${attempt.id}`);
});

test("a job whose upstream calls is asked after one time in ten", async () => {
  const [usual, patient] = [await hooked({ isHooked: false }), await hooked()];
  for (const each of [usual, patient]) {
    await each.begin();
    await each.pass(55_000, 10);
  }
  expect(usual.asked.length).toBeGreaterThanOrEqual(50);
  expect(patient.asked.length).toBeLessThanOrEqual(usual.asked.length / 10);
});

test("a job is asked after once a minute at least, and no sooner than its upstream says", async () => {
  const { engine, begin } = await hooked();
  const { attempt } = await begin();
  const waits = [100, 1_000, 5_000, 30_000, 90_000].map((usualMs) =>
    engine.deps.hooks.delayMs(attempt, usualMs),
  );
  expect(waits).toEqual([2_000, 10_000, 50_000, 60_000, 90_000]);
});

test("a call that is lost costs at most as long as the job took", async () => {
  const { engine, begin, pass, asked } = await hooked({ jobMs: 9_000 });
  const { id } = await begin();
  await pass(18_000);
  expect((await engine.task(id)).status).toBe("completed");
  expect(asked.at(-1)).toBeLessThanOrEqual(18_000);
});

test("a call has the job asked after at once, by one question", async () => {
  const { engine, begin, pass, asked } = await hooked({ jobMs: 20_000 });
  const { id, attempt } = await begin();
  await pass(20_000);
  const before = asked.length;
  await engine.deps.hooks.came(attempt);
  await engine.scheduler.tick();
  expect((await engine.task(id)).status).toBe("completed");
  expect(asked.length).toBe(before + 1);
});

test("however many calls come, no second has more than one question for them", async () => {
  const { engine, begin, pass, asked } = await hooked();
  const { attempt } = await begin();
  await pass(40_000);
  const before = asked.length;
  for (let second = 0; second < 3; second++) {
    for (let call = 0; call < 200; call++) {
      await engine.deps.hooks.came(attempt);
      await engine.scheduler.tick();
      engine.clock.advance(5);
    }
  }
  const led = asked.slice(before);
  expect(led).toHaveLength(3);
  for (const [i, at] of led.slice(1).entries()) expect(at - (led[i] ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test("a call that comes while the job is asked after leads to one more question", async () => {
  const { engine, begin, pass, asked, whileAsking } = await hooked({ jobMs: 2_001 });
  const { id, attempt } = await begin();
  let calls = 0;
  whileAsking(async () => {
    if (calls++ === 0) await engine.deps.hooks.came(attempt);
  });
  // The first question comes too soon, and without a call the next one would come as long after it.
  await pass(2_000);
  expect(asked).toEqual([2_000]);
  engine.clock.advance(1);
  await engine.scheduler.tick();
  expect((await engine.task(id)).status).toBe("completed");
});

test("a call that comes before the answer to the submission is not lost", async () => {
  const provider = scriptedProvider({
    async submit({ attempt: id }) {
      await engine.deps.hooks.came({ id, lane: LANE });
      return { kind: "operation", operation: "job", isHooked: true };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  await engine.scheduler.tick();
  expect((await engine.task(id)).status).toBe("completed");
});

test("calls about a task that has ended, and attempts of nobody, ask nothing", async () => {
  const { engine, begin, pass, asked } = await hooked({ jobMs: 500 });
  const { id, attempt } = await begin();
  await pass(3_000);
  expect((await engine.task(id)).status).toBe("completed");
  const before = asked.length;
  await engine.deps.hooks.came(attempt);
  await engine.deps.hooks.came({ ...attempt, id: `${attempt.id}x` as typeof attempt.id });
  expect(await engine.scheduler.tick()).toBe(0);
  expect(asked.length).toBe(before);
});

test("questions that calls lead to keep to the rate of their account", async () => {
  const jobs = await hooked({ pollsPerMinute: 60 });
  const { engine, begin, pass, asked } = jobs;
  const attempts = [(await begin()).attempt, (await begin()).attempt, (await begin()).attempt];
  await pass(20_000);
  const before = asked.length;
  for (const attempt of attempts) await engine.deps.hooks.came(attempt);
  await pass(24_000, 10);
  const led = asked.slice(before);
  expect(led).toHaveLength(3);
  for (const [i, at] of led.slice(1).entries()) expect(at - (led[i] ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test("an account that never calls is asked as often as without calls, until it calls", async () => {
  const jobs = await hooked({ jobMs: 0 });
  const { engine, begin, pass } = jobs;
  const firstQuestionMs = async () => {
    const start = engine.clock.elapsed();
    jobs.asked.length = 0;
    const begun = await begin();
    await pass(start + 10_000);
    return { ...begun, ms: (jobs.asked[0] ?? 0) - start };
  };
  const waits: number[] = [];
  for (let job = 0; job < 5; job++) waits.push((await firstQuestionMs()).ms);
  expect(waits).toEqual([2_000, 2_000, 2_000, 2_000, 2_000]);
  const { ms, attempt } = await firstQuestionMs();
  expect(ms).toBe(100);
  await engine.deps.hooks.came(attempt);
  expect((await firstQuestionMs()).ms).toBe(2_000);
});

test("nothing is kept of a task that another node has taken over and ended", async () => {
  const { engine, begin } = await hooked({ jobMs: 0 });
  const { id, attempt } = await begin();
  const { deps, clock } = engine;
  const kept = () => {
    const transition = { attempt: { id: attempt.id, state: "done" } } as Transition;
    deps.traces.polled({ ...attempt, trace: undefined });
    const polls = deps.traces.along(transition, attempt).attempt?.trace?.polls;
    return { delayMs: deps.hooks.delayMs(attempt, 100), polls };
  };
  expect([kept(), kept()]).toEqual([
    { delayMs: 2_000, polls: 1 },
    { delayMs: 2_000, polls: 2 },
  ]);
  const hooks = new Hooks({ tasks: deps.tasks, clock, log: deps.log, wake() {} });
  const other = createScheduler(
    { ...deps, hooks, traces: new Traces(clock) },
    { concurrency: 1, steps: 1, leaseMs: 30_000, lanes: () => [{ lane: LANE, capacity: 1 }] },
  );
  for (let i = 0; i < 5; i++) {
    clock.advance(2_000);
    await other.tick();
  }
  expect((await engine.task(id)).status).not.toBe("processing");
  expect(kept()).toEqual({ delayMs: 100, polls: 1 });
});

test("attempts of an earlier process are asked after as usual, because their calls may have been missed", async () => {
  const { engine, begin, pass, asked } = await hooked();
  const { attempt } = await begin();
  engine.deps.hooks.applied({ to: "terminal" } as never, attempt);
  await pass(60_000);
  // The wait for the first of them had begun.
  expect(asked.length).toBeGreaterThan(30);
});
