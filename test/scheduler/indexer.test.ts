import { expect, test } from "bun:test";
import type { Log } from "../../src/domain/ports/runtime.ts";
import type { SearchStore } from "../../src/domain/ports/search-store.ts";
import { createIndexer } from "../../src/scheduler/indexer.ts";

/** An indexer of a store with so many tasks; a call of the store takes `tookMs`. */
function setup({ tasks = 0, tookMs = 0, isOn = true, failures = 0 } = {}) {
  const [waits, errors, calls]: [number[], string[], string[]] = [[], [], []];
  let [left, now, broken] = [tasks, 0, failures];
  let next: (() => void) | undefined;
  const search: SearchStore = {
    async index(limit) {
      calls.push("index");
      if (broken-- > 0) throw new Error("the disk is full");
      now += tookMs;
      const count = Math.min(limit, left);
      left -= count;
      return count;
    },
    async clear() {
      calls.push("clear");
    },
  };
  const clock = {
    elapsed: () => now,
    after(ms: number, run: () => void) {
      waits.push(ms);
      next = run;
      return () => {
        next = undefined;
      };
    },
  };
  const log: Log = { debug() {}, info() {}, warn() {}, error: (_, text) => errors.push(text) };
  const indexer = createIndexer({ search, clock, log, isOn });
  /** Lets everything that has begun end, then the wait. */
  async function pass(): Promise<void> {
    await new Promise(setImmediate);
    next?.();
    await new Promise(setImmediate);
  }
  return { ...indexer, pass, waits, errors, calls };
}

test("tasks that wait are indexed in batches, with long pauses for others, and new ones are looked for each second", async () => {
  const { start, pass, waits } = setup({ tasks: 45 });
  start();
  for (let i = 0; i < 4; i += 1) await pass();
  expect(waits.slice(0, 4)).toEqual([50, 50, 1_000, 1_000]);
  const slow = setup({ tasks: 45, tookMs: 4 });
  slow.start();
  await slow.pass();
  expect(slow.waits[0]).toBe(196);
});

test("what fails is told and tried again", async () => {
  const { start, pass, waits, errors, calls } = setup({ tasks: 5, failures: 1 });
  start();
  await pass();
  expect([waits[0], errors, calls]).toEqual([
    1_000,
    ["prompts could not be indexed; trying again"],
    ["index", "index"],
  ]);
});

test("a stopped one does nothing more", async () => {
  const { start, stop, pass, calls } = setup({ tasks: 45 });
  start();
  stop();
  for (let i = 0; i < 3; i += 1) await pass();
  expect(calls).toEqual(["index"]);
});

test("one that is off removes what there is, once", async () => {
  const { start, pass, calls } = setup({ tasks: 45, isOn: false });
  start();
  for (let i = 0; i < 3; i += 1) await pass();
  expect(calls).toEqual(["clear"]);
});
