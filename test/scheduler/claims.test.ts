import { expect, test } from "bun:test";
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
