import { expect, test } from "bun:test";
import type { AccountId } from "../../src/domain/ids.ts";
import type { ProviderAdapter, SubmitRequest } from "../../src/domain/ports/provider.ts";
import { ProviderError } from "../../src/domain/ports/provider.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, accountId, bySystem, micros, newTask, taskId } from "../helpers/store.ts";

const OTHER = accountId(2);
const ROUTE = { lane: scriptedProvider().lane, upstreamModel: "one" };
/** A 500 in the upstream's own words. */
const broken = new ProviderError("retry", "UPSTREAM_ERROR", "500", { isFailure: true });
/** A firewall in front of the upstream refuses the request. */
const forbidden = new ProviderError("reroute", "NO_ROUTE_AVAILABLE", "403", { refused: "key" });

/** One upstream that makes what it is asked for unless `isFailing` says otherwise, and two callers. */
async function setup(
  isFailing: (asked: SubmitRequest) => boolean,
  fields: Partial<ProviderAdapter> = {},
  error = broken,
) {
  const upstream = scriptedProvider({
    ...fields,
    submit: async (asked) => {
      if (isFailing(asked)) throw error;
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  const engine = await createEngine([upstream], { options: { steps: 1 } });
  const other = { id: OTHER, name: "other", mode: "unlimited", credit: micros(0), createdAt: 1 } as const;
  await engine.store.accounts.createAccount(other, bySystem());
  const pass = async (times: number, stepMs: number) => {
    for (let i = 0; i < times; i++) {
      await engine.scheduler.tick();
      engine.clock.advance(stepMs);
    }
  };
  return { engine, upstream, pass };
}

test("a caller whose tasks break an upstream is kept from it, and nobody else is", async () => {
  const bad = new Set(Array.from({ length: 30 }, (_, i) => taskId(i + 1)));
  const { engine, upstream, pass } = await setup(({ taskId: id }) => bad.has(id));
  for (const id of bad) await engine.admit({ id });
  await pass(20, 10);
  expect(upstream.submissions).toHaveLength(5);
  const good = Array.from({ length: 20 }, (_, i) => taskId(100 + i));
  for (const id of good) await engine.admit({ id, accountId: OTHER });
  await pass(40, 10);
  const ends = await Promise.all(good.map(async (id) => (await engine.task(id)).status));
  expect(ends).toEqual(good.map(() => "completed"));
  expect(upstream.submissions).toHaveLength(25);
  const wayOf = (newOf: AccountId) => engine.deps.routing.choose(MODEL, newTask().request, { newOf })?.state;
  expect([ACCOUNT, OTHER].map(wayOf)).toEqual(["open", "closed"]);
  expect(engine.deps.standing.of(ROUTE).detail).toBe(`500, so far for account ${ACCOUNT} alone`);
});

test("an upstream that is back is tried with a task that has not failed there, of another caller where there is one", async () => {
  const bad = taskId(1);
  let isAway = true;
  const { engine, pass } = await setup(({ taskId: id }) => isAway || id === bad, { repeatIsSafe: true });
  await engine.admit({ id: bad });
  const own = [2, 3].map(taskId);
  for (const id of own) await engine.admit({ id });
  const theirs = taskId(4);
  await engine.admit({ id: theirs, accountId: OTHER });
  await pass(40, 100);
  expect(engine.deps.standing.of(ROUTE).state).toBe("open");
  const late = taskId(5);
  await engine.admit({ id: late, accountId: OTHER });
  isAway = false;
  const before = engine.clock.now();
  await pass(400, 100);
  const ends = await Promise.all(
    [...own, theirs, late].map(async (id) => (await engine.task(id)).completedAt),
  );
  for (const end of ends) expect((end ?? Number.POSITIVE_INFINITY) - before).toBeLessThan(36_000);
});

test.each([
  ["that a call proves", { test: async () => ({ kind: "ok" }) as const }],
  ["that no call proves", {}],
])(
  "a caller whose tasks are refused as if it were the key, %s, takes the account from nobody else",
  async (_, fields) => {
    const bad = [1, 2, 3].map(taskId);
    const { engine, pass } = await setup(({ taskId: id }) => bad.includes(id), fields, forbidden);
    const good = [11, 12, 13].map(taskId);
    for (const [i, id] of bad.entries()) {
      await engine.admit({ id });
      await pass(1, 1);
      await engine.admit({ id: good[i]!, accountId: OTHER });
      await pass(3, 1);
    }
    const endsOf = (ids: typeof bad) => Promise.all(ids.map(async (id) => (await engine.task(id)).status));
    expect([...(await endsOf(bad)), ...(await endsOf(good))]).toEqual([
      ...bad.map(() => "failed" as const),
      ...good.map(() => "completed" as const),
    ]);
  },
);
