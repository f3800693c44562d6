import { expect, test } from "bun:test";
import type { AttemptId, LaneId } from "../../src/domain/ids.ts";
import { type PollResult, ProviderError } from "../../src/domain/ports/provider.ts";
import type { Attempt } from "../../src/domain/task/task.ts";
import { phasesOf } from "../../src/domain/task/trace.ts";
import type { Transition } from "../../src/domain/task/transition.ts";
import { Traces } from "../../src/scheduler/traces.ts";
import { createEngine, fakeClock, type ScriptedProvider, scriptedProvider } from "../helpers/engine.ts";
import { LANE, lane, taskId } from "../helpers/store.ts";

const SECOND = `${LANE}/second` as LaneId;
const OTHER = lane("second");
const broken = new ProviderError("retry", "UPSTREAM_ERROR", "it answered 500");
const pending: PollResult = { kind: "pending", pollAfterMs: 1_000 };
const made: PollResult = { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };
const uncharged: PollResult = { kind: "failed", code: "UPSTREAM_ERROR", mayReroute: true, detail: "no room" };

type Script = Parameters<typeof scriptedProvider>[0] & object;
/** What moves the engine's clock; it is there before the engine is. */
interface Hands {
  clock?: ReturnType<typeof fakeClock>;
}

/** Refuses after 3 ms to connect and 10 ms in all. */
const refusing = (hands: Hands): Script => ({
  async submit({ tracing }) {
    tracing?.took("connect", 3);
    hands.clock?.advance(10);
    tracing?.answered(500, "req-1");
    throw broken;
  },
});

/** Takes the job under this name, and gives these answers to the questions for it. */
function taking(jobId: string, answers: readonly PollResult[]): Script {
  const left = [...answers];
  return {
    submit: async ({ tracing }) => {
      tracing?.answered(202, undefined);
      return { kind: "operation", operation: { jobId }, jobId };
    },
    poll: async () => left.shift() ?? made,
  };
}

const account = (id: LaneId, script: Script): ScriptedProvider =>
  Object.assign(scriptedProvider(script), { lane: id });

const verdicts = ({ considered }: Attempt) => considered?.map((way) => [way.lane, way.verdict]);

test("each attempt of a task that failed over twice tells what it was chosen among, and how it went", async () => {
  const hands: Hands = {};
  const engine = await createEngine([
    account(LANE, refusing(hands)),
    account(SECOND, taking("job-2", [pending, uncharged])),
    scriptedProvider({ id: OTHER, ...taking("job-3", [pending, pending]) }),
  ]);
  hands.clock = engine.clock;
  const id = await engine.admit();
  await engine.runToEnd();
  const attempts = await engine.store.tasks.attempts(id);
  expect(attempts.map(({ lane, state, trace }) => ({ lane, state, ...trace }))).toEqual([
    {
      ...{ lane: LANE, state: "rejected", connectMs: 3, submitMs: 7 },
      ...{ httpStatus: 500, upstreamRequestId: "req-1" },
    },
    { lane: SECOND, state: "done", submitMs: 0, httpStatus: 202, jobId: "job-2", polls: 2 },
    {
      ...{ lane: OTHER, state: "done", submitMs: 0, httpStatus: 202, jobId: "job-3", polls: 3 },
      ...{ fetchMs: 0, storeMs: 0 },
    },
  ]);
  expect(attempts.map(verdicts)).toEqual([
    [
      [LANE, "chosen"],
      [SECOND, "standby"],
      [OTHER, "standby"],
    ],
    [
      [LANE, "tried"],
      [SECOND, "chosen"],
      [OTHER, "standby"],
    ],
    [
      [LANE, "tried"],
      [SECOND, "tried"],
      [OTHER, "chosen"],
    ],
  ]);
});

test("polls without a good answer are counted apart, and told while there are no others", async () => {
  let polls = 0;
  const engine = await createEngine([
    scriptedProvider({
      ...taking("job-1", []),
      async poll() {
        polls += 1;
        if (polls <= 3) throw broken;
        return made;
      },
    }),
  ]);
  const id = await engine.admit();
  const failedNow = async () => {
    const story = await engine.store.tasks.story(id);
    const [attempt] = story?.attempts ?? [];
    return story && attempt && phasesOf(story, attempt, engine.clock.now()).polls?.failed;
  };
  while (polls < 2) await engine.runToEnd(1);
  expect(await failedNow()).toBe(2);
  await engine.runToEnd();
  const [attempt] = await engine.store.tasks.attempts(id);
  expect(attempt?.trace).toMatchObject({ polls: 4, failedPolls: 3 });
  expect(await failedNow()).toBe(3);
});

test("outputs tell how long they took to come, apart from what was done with them", async () => {
  const hands: Hands = {};
  const slow: Script = {
    async fetchOutput() {
      hands.clock?.advance(20);
      return (async function* () {
        hands.clock?.advance(5);
        yield new TextEncoder().encode("pic");
        hands.clock?.advance(7);
        yield new TextEncoder().encode("ture");
      })();
    },
  };
  const engine = await createEngine([scriptedProvider(slow)]);
  hands.clock = engine.clock;
  const { assets } = engine.deps;
  const stage: typeof assets.stage = async (...given) => {
    const file = await assets.stage(...given);
    engine.clock.advance(4);
    return file;
  };
  Object.assign(engine.deps, { assets: { ...assets, stage } });
  const id = await engine.admit();
  await engine.runToEnd();
  const [attempt] = await engine.store.tasks.attempts(id);
  expect(attempt?.trace).toMatchObject({ polls: 1, fetchMs: 32, storeMs: 4 });
});

test("where a model has one way, nothing is kept of choosing", async () => {
  const only = scriptedProvider();
  const engine = await createEngine([only]);
  const routes = engine.deps.catalog.models()[0]!.routes.slice(0, 1);
  const model = { ...engine.deps.catalog.models()[0]!, routes };
  Object.assign(engine.deps, { catalog: { ...engine.deps.catalog, find: () => model } });
  const id = await engine.admit();
  await engine.runToEnd();
  const [attempt] = await engine.store.tasks.attempts(id);
  expect(attempt?.considered).toBeUndefined();
});

test("after a restart, what was written before is added to", async () => {
  const engine = await createEngine([scriptedProvider(taking("job-1", [pending]))]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  const { createScheduler } = await import("../../src/scheduler/scheduler.ts");
  const deps = { ...engine.deps, traces: new Traces(engine.clock) };
  const lanes = () => [{ lane: LANE, capacity: 1 }];
  const next = createScheduler(deps, { concurrency: 1, steps: 1, leaseMs: 30_000, lanes });
  for (let i = 0; i < 3; i++) {
    engine.clock.advance(10_000);
    await next.tick();
  }
  const [attempt] = await engine.store.tasks.attempts(id);
  expect(attempt).toMatchObject({ state: "done", trace: { jobId: "job-1", httpStatus: 202, polls: 2 } });
});

test("of a task only the latest attempt is kept in memory, for earlier ones may never be heard of again", async () => {
  const traces = new Traces(fakeClock());
  const first = { id: "att_1" as AttemptId, taskId: taskId(1) } as Attempt;
  const second = { ...first, id: "att_2" as AttemptId };
  traces.polled(first);
  traces.polled(second);
  const told = ({ id }: Attempt) => {
    const transition = { attempt: { id, state: "done" } } as Transition;
    return traces.along(transition, { ...first, id }).attempt?.trace;
  };
  expect([told(second), told(first)]).toEqual([{ polls: 1 }, undefined]);
});
