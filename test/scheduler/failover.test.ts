import { describe, expect, test } from "bun:test";
import type { LaneId } from "../../src/domain/ids.ts";
import { type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import { createLanes, laneCapacities } from "../../src/scheduler/routing/lanes.ts";
import { createEngine, MODEL, type ScriptedProvider, scriptedProvider } from "../helpers/engine.ts";
import { LANE, lane, micros, newTask, taskId, whole } from "../helpers/store.ts";

const HOUR = 3_600_000;
const pictures = { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] } as const;
const fails = (error: ProviderError) => async (): Promise<never> => {
  throw error;
};
const broken = new ProviderError("retry", "UPSTREAM_ERROR", "connection refused");
const refused = new ProviderError("reroute", "NO_ROUTE_AVAILABLE", "401", { refused: "key" });
const spent = new ProviderError("reroute", "NO_ROUTE_AVAILABLE", "402", { refused: "spent" });
const moderated = new ProviderError("fail", "CONTENT_MODERATED", "unsafe");
const tooMany = new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "429", { isTooOften: true });
const made = async () => pictures;

const account = (id: string, submit: ProviderAdapter["submit"]): ScriptedProvider =>
  Object.assign(scriptedProvider({ submit }), { lane: id as LaneId });

type Engine = Awaited<ReturnType<typeof createEngine>>;
const admit = (engine: Engine, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => engine.admit({ id: taskId(i + 1) })));
const endsOf = async (engine: Engine, ids: readonly Awaited<ReturnType<Engine["admit"]>>[]) =>
  Object.entries(Object.groupBy(await Promise.all(ids.map(engine.task)), ({ status }) => status)).map(
    ([status, tasks]) => `${tasks?.length} ${status}`,
  );

test.each([
  ["fails", broken, 5],
  ["refuses our key", refused, 1],
  ["has no money for us", spent, 1],
] as const)("where the first account %s, another one makes every task at once", async (_, error, most) => {
  const first = account(LANE, fails(error));
  const second = account(`${LANE}/second`, made);
  const engine = await createEngine([first, second], { options: { steps: 1 } });
  const ids = await admit(engine, 50);
  const startedAt = engine.clock.now();
  await engine.runToEnd(500);
  expect(await endsOf(engine, ids)).toEqual(["50 completed"]);
  expect(first.submissions.length).toBeLessThanOrEqual(most);
  expect(engine.clock.now() - startedAt).toBeLessThan(1_000);
});

test("where a provider is away, the model's next one makes every task at once", async () => {
  const first = account(LANE, fails(broken));
  const second = scriptedProvider({ id: lane("second"), submit: made });
  const engine = await createEngine([first, second], { options: { steps: 1 } });
  const ids = await admit(engine, 50);
  await engine.runToEnd(500);
  expect(await endsOf(engine, ids)).toEqual(["50 completed"]);
  expect(first.submissions).toHaveLength(5);
});

test("an account that fails is tried by one task a time, and takes all again once that is made", async () => {
  let isAway = true;
  const first = account(LANE, async () => {
    if (isAway) throw broken;
    return pictures;
  });
  const second = scriptedProvider({ id: lane("second"), submit: made });
  const engine = await createEngine([first, second], { options: { steps: 1 } });
  await admit(engine, 10);
  await engine.runToEnd(100);
  expect(first.submissions).toHaveLength(5);
  // Where there are others, tasks of the caller whose task failed last are not the first to try it.
  engine.clock.advance(32_000);
  for (const id of [11, 12, 13]) await engine.admit({ id: taskId(id) });
  await engine.runToEnd(100);
  expect(first.submissions).toHaveLength(6);
  isAway = false;
  engine.clock.advance(62_000);
  for (const id of [14, 15, 16]) await engine.admit({ id: taskId(id) });
  await engine.runToEnd(100);
  expect(first.submissions).toHaveLength(9);
  expect(await engine.store.routes.troubles()).toEqual([]);
});

test("tasks wait for the only account while it is open, and none is lost", async () => {
  let isAway = true;
  const only = account(LANE, async () => {
    if (isAway) throw broken;
    return pictures;
  });
  const engine = await createEngine([only], { options: { steps: 1 } });
  const ids = await admit(engine, 20);
  for (let i = 0; i < 200 && only.submissions.length < 5; i++) {
    await engine.scheduler.tick();
    engine.clock.advance(100);
  }
  isAway = false;
  await engine.runToEnd(2_000);
  expect(await endsOf(engine, ids)).toEqual(["20 completed"]);
  expect(only.submissions.length).toBe(25);
});

test("no task fails because its account says that it is asked too often", async () => {
  let refusals = 0;
  const only = account(LANE, async () => {
    if (++refusals <= 5) throw tooMany;
    return pictures;
  });
  const engine = await createEngine([only]);
  const ids = await admit(engine, 1);
  await engine.runToEnd(3_000);
  expect(await endsOf(engine, ids)).toEqual(["1 completed"]);
});

test("neither content nor too many requests open a route", async () => {
  for (const [error, end] of [
    [moderated, "failed"],
    [tooMany, "pending"],
  ] as const) {
    const only = account(LANE, fails(error));
    const engine = await createEngine([only]);
    const ids = await admit(engine, 30);
    for (let i = 0; i < 20; i++) {
      await engine.scheduler.tick();
      engine.clock.advance(100);
    }
    expect(await engine.store.routes.troubles()).toEqual([]);
    if (end === "failed") expect(await endsOf(engine, ids)).toEqual(["30 failed"]);
  }
});

test("a spent account gets one task an hour later, and the rest goes on elsewhere", async () => {
  const first = account(LANE, fails(spent));
  const second = account(`${LANE}/second`, made);
  const engine = await createEngine([first, second], { options: { steps: 1 } });
  await admit(engine, 4);
  await engine.runToEnd();
  engine.clock.advance(HOUR);
  for (const id of [5, 6, 7, 8]) await engine.admit({ id: taskId(id) });
  await engine.runToEnd();
  expect([first.submissions.length, second.submissions.length]).toEqual([2, 8]);
});

test("a task whose accounts are all refused ends, and is sent to none of them again", async () => {
  const first = account(LANE, fails(refused));
  const second = account(`${LANE}/second`, fails(spent));
  const engine = await createEngine([first, second]);
  const ids = await admit(engine, 5);
  await engine.runToEnd();
  const task = await engine.task(ids[0]!);
  expect(task).toMatchObject({ status: "failed", error: { code: "NO_ROUTE_AVAILABLE" } });
  const before = first.submissions.length + second.submissions.length;
  await engine.admit({ id: taskId(9) });
  await engine.runToEnd();
  expect((await engine.task(taskId(9))).status).toBe("failed");
  expect(first.submissions.length + second.submissions.length).toBe(before);
});

test("tasks of an account that is blocked wait, and go on when it is allowed", async () => {
  const only = account(LANE, made);
  const engine = await createEngine([only]);
  engine.deps.standing.block({ lane: LANE, upstreamModel: "" }, "maintenance");
  const [id] = await admit(engine, 1);
  for (let i = 0; i < 20; i++) {
    await engine.scheduler.tick();
    engine.clock.advance(60_000);
  }
  expect([only.submissions.length, (await engine.task(id!)).status]).toEqual([0, "pending"]);
  engine.deps.standing.allow({ lane: LANE, upstreamModel: "" });
  await engine.runToEnd();
  expect((await engine.task(id!)).status).toBe("completed");
});

test("what waits for an account that is gone, and was not sent, goes to another account of its provider", async () => {
  const second = account(`${LANE}/second`, made);
  const gone = `${LANE}/gone` as LaneId;
  const lanes = () => laneCapacities([second], [gone, lane("other")]);
  const engine = await createEngine([second], { options: { lanes } });
  const id = await engine.admit({ lane: gone });
  const other = await engine.admit({ id: taskId(2), lane: lane("other") });
  await engine.runToEnd();
  expect([(await engine.task(id)).status, (await engine.task(other)).status]).toEqual([
    "completed",
    "pending",
  ]);
});

test.each(["here", "on another node"])(
  "what is created for an account after it is gone %s goes to another one, too",
  async (place) => {
    const second = account(`${LANE}/second`, made);
    const gone = account(`${LANE}/gone`, made);
    let adapters: readonly ProviderAdapter[] = place === "here" ? [gone, second] : [second];
    let lanes: ReturnType<typeof createLanes> = () => [];
    const engine = await createEngine([second], { options: { lanes: () => lanes() } });
    const { clock, log } = engine.deps;
    lanes = createLanes({ adapters: () => adapters, tasks: engine.store.tasks, clock, log }, () => {});
    await engine.scheduler.tick();
    if (place === "here") adapters = [second];
    await engine.scheduler.tick();
    const id = await engine.admit({ lane: gone.lane });
    // Who knew the account takes its tasks over at once. The first claim of others looks for them, and the next one finds them.
    if (place === "on another node") engine.clock.advance(10_000);
    for (let i = 0; i < 3; i++) await engine.scheduler.tick();
    expect((await engine.task(id)).stage).not.toBe("queued");
  },
);

describe("a submission without an answer", () => {
  const unknown = new ProviderError("unknown", "UPSTREAM_ERROR", "connection closed");
  /** Loses its first answers. */
  const losing = (times: number, fields: Partial<ProviderAdapter> = {}) => {
    const adapter = account(LANE, async () => {
      if (adapter.submissions.length <= times) throw unknown;
      return pictures;
    });
    return Object.assign(adapter, fields);
  };

  test("ends its task, unless the operator would rather pay twice", async () => {
    for (const [onUnknown, end, submissions] of [
      [undefined, "failed", 1],
      ["fail", "failed", 1],
      ["resubmit", "completed", 3],
    ] as const) {
      const only = losing(2, { onUnknown });
      const engine = await createEngine([only]);
      const id = await engine.admit();
      await engine.runToEnd();
      expect([(await engine.task(id)).status, only.submissions.length]).toEqual([end, submissions]);
      const attempts = await engine.store.tasks.attempts(id);
      expect(new Set(attempts.map((attempt) => attempt.id)).size).toBe(submissions);
    }
  });

  test("is made again twice at most", async () => {
    const only = losing(99, { onUnknown: "resubmit" });
    const engine = await createEngine([only]);
    const id = await engine.admit();
    await engine.runToEnd();
    expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "OUTCOME_UNKNOWN" } });
    expect(only.submissions).toHaveLength(3);
  });

  test("is sent again as the same one where the upstream knows it by its key", async () => {
    const only = losing(2, { onUnknown: "resubmit", submitIsIdempotent: true });
    const engine = await createEngine([only]);
    const id = await engine.admit();
    await engine.runToEnd();
    expect((await engine.task(id)).status).toBe("completed");
    expect(await engine.store.tasks.attempts(id)).toHaveLength(1);
  });

  test("costs the operator what it may have, also where the next one is answered", async () => {
    const only = losing(1, { onUnknown: "resubmit" });
    const engine = await createEngine([only]);
    const price = { version: "1", lines: [{ sku: "m", unit: "output", unitMicros: micros(30) }] as const };
    const model = {
      ...MODEL,
      price,
      routes: [{ provider: LANE, upstreamModel: "one", cost: "list" as const }],
    };
    Object.assign(engine.deps, { catalog: { ...engine.deps.catalog, find: () => model } });
    const id = await engine.admit();
    await engine.runToEnd();
    expect(
      (await engine.store.tasks.attempts(id)).map(({ state, costMicros }) => [state, costMicros]),
    ).toEqual([
      ["ambiguous", micros(30)],
      ["done", micros(30)],
    ]);
  });
});

test("an account that is asked too often gets no more tasks than it takes, where another one can be taken", async () => {
  const other = lane("second");
  const engine = await createEngine([scriptedProvider(), scriptedProvider({ id: other })]);
  const { pace, routing } = engine.deps;
  const { request } = newTask();
  const chosen = () => routing.choose(MODEL, request)?.lane;
  pace.submit(whole(LANE));
  pace.tooOften(whole(LANE));
  // It takes one now, which waits there already when the next one comes.
  expect([chosen(), chosen()]).toEqual([LANE, other]);
  engine.clock.advance(600_000);
  expect(chosen()).toBe(LANE);
});
