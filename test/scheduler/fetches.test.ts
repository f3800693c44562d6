import { expect, test } from "bun:test";
import type { TaskId } from "../../src/domain/ids.ts";
import { createFetches } from "../../src/scheduler/fetches.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, accountId, bySystem, LANE, micros, NOW, newTask } from "../helpers/store.ts";

type Engine = Awaited<ReturnType<typeof createEngine>>;

const withRemoteInput = (number: number) => ({
  number,
  request: {
    ...newTask().request,
    inputs: [
      {
        role: "image" as const,
        param: "image_url",
        source: { kind: "url" as const, url: "https://slow.example/a.png" },
      },
    ],
  },
});

/** Fetches that end when the test says so, or when they are aborted. */
function slowFetches() {
  const sent = Promise.withResolvers<Uint8Array>();
  let begun = 0;
  return {
    begun: () => begun,
    send: () => sent.resolve(new TextEncoder().encode("input")),
    async fetchMedia(_url: string, { signal }: { signal: AbortSignal }) {
      begun += 1;
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      const piece = await Promise.race([sent.promise, promise]);
      return (async function* () {
        yield piece;
      })();
    },
  };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await isSo()); turns += 1) {
    if (turns > 20_000) throw new Error("it does not come to that");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const isAt = (engine: Engine, id: TaskId, stage: string) => async () =>
  (await engine.task(id)).stage === stage;

test("a task whose input comes slowly takes no place of its lane, and waits for one when it has come", async () => {
  let isDone = false;
  const provider = scriptedProvider({
    concurrency: 1,
    poll: async () =>
      isDone ? { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] } : { kind: "pending" },
  });
  const slow = slowFetches();
  const engine = await createEngine([provider], { egress: { fetchMedia: slow.fetchMedia } });
  const waiting = await engine.admit(withRemoteInput(1));
  await engine.scheduler.start();
  await until(() => slow.begun() === 1);
  const plain = await engine.admit({ number: 2 });
  engine.scheduler.wake();
  await until(isAt(engine, plain, "running"));
  slow.send();
  await until(async () => (await engine.task(waiting)).request.inputs[0]?.source.kind === "asset");
  engine.scheduler.wake();
  for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(provider.submissions.map(({ taskId }) => taskId)).toEqual([plain]);
  isDone = true;
  engine.clock.advance(1_000);
  await until(isAt(engine, waiting, "running"));
  await engine.scheduler.drain(0);
});

test("no more than 128 inputs are fetched at one time", async () => {
  const slow = slowFetches();
  const engine = await createEngine([scriptedProvider()], { egress: { fetchMedia: slow.fetchMedia } });
  for (let account = 1; account <= 140; account += 1) {
    const id = accountId(account);
    const opened = { id, name: id, mode: "unlimited", credit: micros(0), createdAt: NOW } as const;
    if (account > 1) await engine.store.accounts.createAccount(opened, bySystem());
    await engine.admit({ ...withRemoteInput(account), accountId: id });
  }
  await engine.scheduler.start();
  const isStill = async () => {
    const before = slow.begun();
    for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    return slow.begun() === before;
  };
  await until(isStill);
  expect(slow.begun()).toBe(128);
  await engine.scheduler.drain(0);
});

test("tasks beyond those that may fetch are looked at a few dozen a second, however many they are", async () => {
  const slow = slowFetches();
  const engine = await createEngine([scriptedProvider()], { egress: { fetchMedia: slow.fetchMedia } });
  for (let number = 1; number <= 400; number += 1) await engine.admit(withRemoteInput(number));
  let looked = 0;
  const { claim } = engine.store.tasks;
  Object.assign(engine.deps.tasks, {
    claim: async (...given: Parameters<typeof claim>) => {
      const claimed = await claim(...given);
      looked += claimed.leases.length;
      return claimed;
    },
  });
  await engine.scheduler.start();
  await until(() => looked === 400);
  for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(looked).toBe(400);
  engine.clock.advance(1_500);
  for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(looked - 400).toBeLessThan(64);
  await engine.scheduler.drain(0);
});

test("of an account no more than eight are fetched, and of many fewer, which leaves places to others", () => {
  const fetches = createFetches({ now: () => NOW, elapsed: () => 0 });
  const begin = (account: number) => fetches.begin({ accountId: accountId(account), lane: LANE });
  const begunOf = (account: number) =>
    Array.from({ length: 20 }, () => begin(account)).filter(Boolean).length;
  expect(begunOf(1)).toBe(8);
  const others = Array.from({ length: 19 }, (_, i) => begunOf(2 + i));
  expect(Math.max(...others)).toBe(8);
  expect(Math.min(...others)).toBeGreaterThan(0);
  expect(begin(21)).toBeDefined();
});

test("a clock that is set back does not put off tasks by as much", () => {
  let now = NOW;
  const fetches = createFetches({ now: () => now, elapsed: () => 5_000 });
  fetches.begin({ accountId: ACCOUNT, lane: LANE });
  expect(fetches.againAt({ accountId: ACCOUNT })).toBe(NOW + 1_000);
  now -= 3_600_000;
  expect(fetches.againAt({ accountId: ACCOUNT })).toBe(now + 1_020);
});
