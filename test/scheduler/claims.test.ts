import { expect, test } from "bun:test";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";

type Engine = Awaited<ReturnType<typeof createEngine>>;

/** Has the test see every claim as it is asked for. */
function onClaim({ deps }: Engine, see: () => void): void {
  const { tasks } = deps;
  const claim: typeof tasks.claim = (query) => {
    const claimed = tasks.claim(query);
    see();
    return claimed;
  };
  Object.assign(deps, { tasks: { ...tasks, claim } });
}

/** A provider that tells when it is submitted to so many times. */
function countingProvider(count: number) {
  const reached = Promise.withResolvers<void>();
  const provider = scriptedProvider({
    async submit() {
      if (provider.submissions.length === count) reached.resolve();
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  return { provider, reached: reached.promise };
}

test("tasks of one turn of the event loop are claimed once, in the commit that stores them", async () => {
  const { provider, reached } = countingProvider(3);
  const engine = await createEngine([provider]);
  const events: string[] = [];
  onClaim(engine, () => void events.push("claimed"));
  await engine.scheduler.start();
  await new Promise((resolve) => setImmediate(resolve));
  events.length = 0;
  const stored = [1, 2, 3].map(async (number) => {
    engine.scheduler.queued();
    await engine.admit({ number });
    events.push("stored");
  });
  await Promise.all(stored);
  expect(events).toEqual(["claimed", "stored", "stored", "stored"]);
  await reached;
  await engine.scheduler.drain(0);
});

test("a task that is stored just after a claim that finds room again is begun all the same", async () => {
  const { provider, reached } = countingProvider(2);
  const engine = await createEngine([provider], { options: { concurrency: 1 } });
  await engine.scheduler.start();
  let isLate = false;
  onClaim(engine, () => {
    // While the first one has the only place, and the claim after its end is under way.
    if (engine.ended.length !== 1 || isLate) return;
    isLate = true;
    engine.scheduler.queued();
    void engine.admit({ number: 2 });
  });
  engine.scheduler.queued();
  await engine.admit({ number: 1 });
  await reached;
  expect(isLate).toBe(true);
  await engine.scheduler.drain(0);
});

/** Counts the writes that begin an attempt outside of a claim. */
function countBegins({ deps }: Engine): () => number {
  let count = 0;
  const { begin } = deps.tasks;
  Object.assign(deps.tasks, {
    begin: (...given: Parameters<typeof begin>) => {
      count += 1;
      return begin(...given);
    },
  });
  return () => count;
}

test("a task that needs no input is begun by its claim, and known before its upstream is", async () => {
  let known: unknown;
  const provider = scriptedProvider({
    async submit({ taskId, attempt }) {
      const { stage, attempts, startedAt } = (await engine.store.tasks.byId(taskId))!;
      known = { stage, attempts, startedAt, isSame: (await engine.store.tasks.attempt(attempt))?.state };
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  const engine = await createEngine([provider]);
  const begins = countBegins(engine);
  const id = await engine.admit();
  await engine.scheduler.tick();
  expect(known).toEqual({
    stage: "submitting",
    attempts: 1,
    startedAt: engine.clock.now(),
    isSame: "intent",
  });
  expect(begins()).toBe(0);
  expect(await engine.task(id)).toMatchObject({ status: "completed", attempts: 1 });
});

test("an adapter that cannot begin a task fails that one alone", async () => {
  const provider = scriptedProvider();
  const terms = { price: 1 };
  let asked = 0;
  const engine = await createEngine([
    Object.assign(provider, {
      terms() {
        asked += 1;
        if (asked === 1) throw new Error("no terms");
        return terms;
      },
    }),
  ]);
  const [first, second] = [await engine.admit({ number: 1 }), await engine.admit({ number: 2 })];
  await engine.runToEnd();
  // The first one's step has asked once more.
  expect(await engine.task(first)).toMatchObject({ status: "completed", attempts: 1 });
  expect(await engine.task(second)).toMatchObject({ status: "completed", attempts: 1 });
});

test("a route that is tried again with a task is free for another where the claim could not be stored", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  const entered: string[] = [];
  const { standing } = engine.deps;
  Object.assign(engine.deps, {
    standing: Object.assign(Object.create(standing), {
      enter: (way: Parameters<typeof standing.enter>[0]) => {
        entered.push("enter");
        return standing.enter(way);
      },
      leave: (way: Parameters<typeof standing.leave>[0]) => {
        entered.push("leave");
        standing.leave(way);
      },
    }),
  });
  const { claim } = engine.deps.tasks;
  let isFull = true;
  Object.assign(engine.deps.tasks, {
    async claim(query: Parameters<typeof claim>[0]) {
      const claimed = await claim(query);
      if (!isFull) return claimed;
      isFull = false;
      throw new StorageError("full", "The disk is full.");
    },
  });
  await engine.admit();
  expect(await engine.scheduler.tick().catch((error: unknown) => error)).toBeInstanceOf(StorageError);
  expect(entered).toEqual(["enter", "leave"]);
});
