import { expect, test } from "bun:test";
import { createLane } from "../../src/http/ingress/lane.ts";

/** A lane whose passages compute as long as is said, with a timer that is called by hand. */
function createPassages() {
  let totalMs = 0;
  const timers: { delayMs: number; callback: () => void }[] = [];
  const after = (delayMs: number, callback: () => void) => {
    timers.push({ delayMs, callback });
    return () => {};
  };
  const lane = createLane({ clock: { after }, computedMs: () => totalMs });
  const passed: string[] = [];
  return {
    passed,
    timers,
    compute: (ms: number) => {
      totalMs += ms;
    },
    ask(owner: string, name: string): void {
      const turn = lane(owner);
      if (turn === undefined) passed.push(name);
      else void turn.then(() => passed.push(name));
    },
    async turns(count: number): Promise<void> {
      for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}

test("the first passes at once, and every third turn of the event loop another", async () => {
  const { ask, passed, turns } = createPassages();
  for (const name of ["1", "2", "3"]) ask("a", name);
  expect(passed).toEqual(["1"]);
  await turns(2);
  expect(passed).toEqual(["1"]);
  await turns(1);
  expect(passed).toEqual(["1", "2"]);
  await turns(3);
  expect(passed).toEqual(["1", "2", "3"]);
  await turns(3);
  ask("a", "4");
  expect(passed).toEqual(["1", "2", "3", "4"]);
});

test("owners go on in rotation, however many wait of each", async () => {
  const { ask, passed, turns } = createPassages();
  for (const name of ["a1", "a2", "a3", "a4"]) ask("a", name);
  ask("b", "b1");
  ask("c", "c1");
  ask("b", "b2");
  await turns(20);
  expect(passed).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("after a passage that computed long, others have twice as long", async () => {
  const { ask, passed, compute, timers, turns } = createPassages();
  ask("a", "1");
  ask("a", "2");
  compute(4);
  await turns(10);
  expect(passed).toEqual(["1"]);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([8]);
  timers[0]?.callback();
  await turns(1);
  expect(passed).toEqual(["1", "2"]);
});
