import { expect, test } from "bun:test";
import type { AttemptId, LaneId, ProviderId } from "../../src/domain/ids.ts";
import type { ProviderAdapter, Recovered } from "../../src/domain/ports/provider.ts";
import { ProviderError } from "../../src/domain/ports/provider.ts";
import { createLateAnswers } from "../../src/scheduler/late-answers.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { LANE, micros, newTask, taskId } from "../helpers/store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const lost = new ProviderError("unknown", "UPSTREAM_ERROR", "connection closed");

/** A task whose submission got no answer, and which has ended by its deadline. Then its upstream says what the script says. */
async function setup(later: Partial<ProviderAdapter> & { recovered?: Recovered }) {
  const { recovered = { kind: "found", operation: "job" }, ...script } = later;
  let isKnown = false;
  let questions = 0;
  const provider = scriptedProvider({
    submit: async () => {
      throw lost;
    },
    recover: async () => {
      questions += 1;
      if (!isKnown) throw new ProviderError("retry", "UPSTREAM_ERROR", "503");
      return recovered;
    },
    ...script,
  });
  const engine = await createEngine([provider]);
  const price = { version: "1", lines: [{ sku: "m", unit: "output", unitMicros: micros(30) }] as const };
  const model = {
    ...MODEL,
    price,
    routes: [{ provider: LANE, upstreamModel: "one", cost: "list" as const }],
  };
  Object.assign(engine.deps, { catalog: { ...engine.deps.catalog, find: () => model } });
  const id = await engine.admit();
  await engine.runToEnd(200);
  const { tasks } = engine.store;
  const late = createLateAnswers({ ...engine.deps, tasks, adapters: () => [provider] });
  const attempt = async () =>
    (await tasks.attempts(id)).map(({ state, costMicros }) => [state, costMicros])[0];
  questions = 0;
  return {
    ...{ engine, id, late, attempt, provider },
    questions: () => questions,
    learn: () => {
      isKnown = true;
    },
  };
}

test("a task that ended without an answer is booked at the most that it can cost", async () => {
  const { engine, id, attempt } = await setup({});
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "OUTCOME_UNKNOWN" } });
  expect(await attempt()).toEqual(["ambiguous", micros(30)]);
});

test.each([
  ["it was made at a cost that it tells", { costMicros: micros(7) }, {}, ["done", micros(7)]],
  ["it was made", {}, {}, ["done", micros(30)]],
  ["it failed for nothing", undefined, { kind: "failed", code: "UPSTREAM_ERROR" }, ["done", micros(0)]],
  [
    "it failed and was charged",
    undefined,
    { kind: "failed", code: "UPSTREAM_ERROR", isCharged: true },
    ["done", micros(30)],
  ],
] as const)("where the upstream says later that %s, that is what it cost", async (_, made, ended, booked) => {
  const { late, attempt, learn, engine, id } = await setup({
    poll: async () => (made === undefined ? ended : { kind: "succeeded", outputs: [], ...made }) as never,
  });
  learn();
  expect(await late.tick()).toBe(1);
  expect(await attempt()).toEqual([...booked]);
  expect((await engine.task(id)).status).toBe("failed");
  expect(await late.tick()).toBe(0);
});

test("one that the upstream never received costs nothing", async () => {
  const { late, attempt, learn } = await setup({ recovered: { kind: "absent" } });
  learn();
  await late.tick();
  expect(await attempt()).toEqual(["rejected", micros(0)]);
});

test("a job that still runs is stopped, because nobody waits for it", async () => {
  const { late, attempt, learn, provider } = await setup({ poll: async () => ({ kind: "pending" }) });
  learn();
  await late.tick();
  expect(provider.cancelled).toEqual(["job"]);
  expect(await attempt()).toEqual(["ambiguous", micros(30)]);
});

test("the upstream is asked at growing distances for a day", async () => {
  const { late, questions, engine } = await setup({});
  const askedAt: number[] = [];
  const from = engine.clock.now();
  for (let minute = 0; minute < 30 * 60; minute++) {
    const before = questions();
    await late.tick();
    if (questions() > before) askedAt.push((engine.clock.now() - from) / MINUTE);
    engine.clock.advance(MINUTE);
  }
  expect(askedAt).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023]);
  expect(await late.tick()).toBe(0);
  engine.clock.advance(HOUR);
});

test("nothing is looked for where no upstream can be asked", async () => {
  const engine = await createEngine([]);
  const tasks = {
    lostAttempts: () => Promise.reject(new Error("It was looked for.")),
    settleLost: () => Promise.reject(new Error("It was settled.")),
  };
  const late = createLateAnswers({ ...engine.deps, tasks, adapters: () => [scriptedProvider()] });
  expect(await late.tick()).toBe(0);
});

test("an upstream that does not answer holds up no other one", async () => {
  const { engine } = await setup({});
  const settled = Promise.withResolvers<AttemptId>();
  const lostAt = (lane: LaneId, id: string) => {
    const attempt = { id: id as AttemptId, lane, upstreamModel: "one", startedAt: 1 };
    return { task: { id: taskId(1), model: MODEL.id, request: newTask().request }, attempt };
  };
  const other = "other" as ProviderId;
  const late = createLateAnswers({
    ...engine.deps,
    adapters: () => [
      scriptedProvider({ recover: () => new Promise(() => {}) }),
      scriptedProvider({ id: other, recover: async () => ({ kind: "absent" }) }),
    ],
    tasks: {
      // What late answers do not read is left out.
      lostAttempts: async () => [lostAt(LANE, "att_1"), lostAt(other, "att_2")] as never,
      settleLost: async (id) => settled.resolve(id) as never,
    },
  });
  void late.tick();
  expect(await settled.promise).toBe("att_2" as AttemptId);
  late.stop();
});
