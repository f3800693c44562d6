import { expect, test } from "bun:test";
import type { Stock } from "../../src/domain/stock.ts";
import { createLatestStock } from "../../src/service/latest-stock.ts";
import { micros } from "../helpers/store.ts";

const stockOf = (held: number): Stock => ({
  ...{ lanes: [], tasks: [], assets: [], callbacks: { count: 0 } },
  held: micros(held),
});

/** Counts that the test lets end, on a clock that it moves. */
function setup() {
  let now = 0;
  const timers: { at: number; run: () => void }[] = [];
  const pending: PromiseWithResolvers<Stock>[] = [];
  const warnings: string[] = [];
  const read = createLatestStock({
    clock: {
      elapsed: () => now,
      after(ms, run) {
        const timer = { at: now + ms, run };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
    },
    log: { warn: (_, message) => void warnings.push(message) },
    stock() {
      const counting = Promise.withResolvers<Stock>();
      pending.push(counting);
      return counting.promise;
    },
  });
  return {
    ...{ read, pending, warnings, timers },
    pass(ms: number) {
      now += ms;
      for (const { run } of timers.filter(({ at }) => at <= now)) run();
    },
  };
}

test("who asks together shares a count, and nobody counts again for five seconds", async () => {
  const { read, pending, pass, timers } = setup();
  const both = Promise.all([read(), read()]);
  pass(20);
  pending[0]?.resolve(stockOf(1));
  expect(await both).toEqual([
    { stock: stockOf(1), ageMs: 0 },
    { stock: stockOf(1), ageMs: 0 },
  ]);
  pass(4_999);
  expect(await read()).toEqual({ stock: stockOf(1), ageMs: 4_999 });
  expect(pending).toHaveLength(1);
  pass(1);
  const next = read();
  expect(pending).toHaveLength(2);
  pending[1]?.resolve(stockOf(2));
  expect(await next).toMatchObject({ stock: stockOf(2) });
  expect(timers).toEqual([]);
});

test("a long count keeps nobody waiting for more than a second, and the next comes a hundred times as late", async () => {
  const { read, pending, pass } = setup();
  const first = read();
  pass(1_000);
  expect(await first).toBeUndefined();
  pending[0]?.resolve(stockOf(1));
  await pending[0]?.promise;
  pass(99_999);
  expect(await read()).toMatchObject({ stock: stockOf(1), ageMs: 99_999 });
  expect(pending).toHaveLength(1);
  pass(1);
  const later = read();
  pass(1_000);
  expect(await later).toMatchObject({ stock: stockOf(1) });
  expect(pending).toHaveLength(2);
});

test("a count that fails is told, and the last one stays", async () => {
  const { read, pending, pass, warnings } = setup();
  const first = read();
  pending[0]?.resolve(stockOf(1));
  await first;
  pass(5_000);
  const second = read();
  pending[1]?.reject(new Error("no"));
  expect(await second).toEqual({ stock: stockOf(1), ageMs: 5_000 });
  expect(warnings).toEqual(["what is stored could not be counted"]);
});
