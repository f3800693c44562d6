import { expect, test } from "bun:test";
import { paced } from "../../src/app/paced.ts";

function setup() {
  const state = { now: 0, takes: 0, runs: 0, fails: false };
  const run = paced(
    async () => {
      state.runs++;
      state.now += state.takes;
      if (state.fails) throw new Error("away");
    },
    () => state.now,
  );
  return { state, run };
}

test("what takes no time runs each time", async () => {
  const { state, run } = setup();
  for (let i = 0; i < 5; i++) await run();
  expect(state.runs).toBe(5);
});

test("what takes long rests until it took a fiftieth of the time, and begins then", async () => {
  const { state, run } = setup();
  state.takes = 100;
  await run();
  state.now = 4_999;
  await run();
  expect(state.runs).toBe(1);
  state.now = 5_000;
  await run();
  expect(state.runs).toBe(2);
});

test("a run that failed counts, and tells its failure", async () => {
  const { state, run } = setup();
  Object.assign(state, { takes: 100, fails: true });
  await expect(run()).rejects.toThrow("away");
  await run();
  expect(state.runs).toBe(1);
});
