import { expect, test } from "bun:test";
import type { MinuteReading } from "../../src/domain/history.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { keepHistory } from "../../src/service/keep-history.ts";
import { lane } from "../helpers/store.ts";

function setup({ failures = 0 } = {}) {
  const ended: [number, MinuteReading][] = [];
  const warned: string[] = [];
  const waits: number[] = [];
  let [now, reads, broken] = [0, 0, failures];
  let next: (() => void) | undefined;
  const log: Log = { debug() {}, info() {}, warn: (_, text) => warned.push(text), error() {} };
  const stop = keepHistory({
    log,
    clock: {
      now: () => now,
      after(ms, run) {
        waits.push(ms);
        next = run;
        return () => {
          next = undefined;
        };
      },
    },
    tasks: {
      async laneCounts() {
        reads += 1;
        if (broken-- > 0) throw new Error("closed");
        const load = (name: string, queued: number) => ({
          lane: lane(name),
          queued,
          underWay: 1,
          awaiting: 0,
        });
        return [load("a", 2), load("b", 3)];
      },
    },
    callbacks: { owedCount: async () => 4 },
    vitals: () => ({ rssBytes: 5 }),
    disk: () => ({ freeBytes: 6, databaseBytes: 7, walBytes: 8 }),
    endMinute: (at, reading) => ended.push([at, reading]),
  });
  async function minute(): Promise<void> {
    now += 60_000;
    const run = next;
    next = undefined;
    run?.();
    await new Promise(setImmediate);
  }
  return { minute, stop, ended, warned, waits, reads: () => reads };
}

test("the service is read once a minute, and never in between", async () => {
  const { minute, ended, waits, reads } = setup();
  for (let i = 0; i < 3; i += 1) await minute();
  expect([reads(), ended.length, new Set(waits)]).toEqual([3, 3, new Set([60_000])]);
  expect(ended[0]).toEqual([
    60_000,
    {
      ...{ queued: 5, underWay: 2, callbacksOwed: 4, rssBytes: 5 },
      ...{ freeBytes: 6, databaseBytes: 7, walBytes: 8 },
    },
  ]);
});

test("a minute that cannot be read is told and left out", async () => {
  const { minute, ended, warned } = setup({ failures: 1 });
  await minute();
  await minute();
  expect([warned.length, ended.map(([at]) => at)]).toEqual([1, [120_000]]);
});

test("a stopped one reads nothing more", async () => {
  const { minute, stop, reads } = setup();
  await minute();
  stop();
  await minute();
  expect(reads()).toBe(1);
});
