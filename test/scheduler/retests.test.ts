import { expect, test } from "bun:test";
import type { LaneId } from "../../src/domain/ids.ts";
import type { Tested } from "../../src/domain/ports/provider.ts";
import { createRetests } from "../../src/scheduler/routing/retests.ts";
import { fakeClock, scriptedProvider } from "../helpers/engine.ts";

const FAL = "fal" as LaneId;

function setup(answer: () => Promise<Tested>) {
  const clock = fakeClock();
  const seen = { tests: 0, proved: 0, isRefused: true };
  const confirmed: string[] = [];
  const adapter = scriptedProvider({
    test: () => {
      seen.tests += 1;
      return answer();
    },
  });
  const retests = createRetests({
    ...{ clock, adapterOf: () => adapter, isRefused: () => seen.isRefused },
    onProved() {
      seen.proved += 1;
      seen.isRefused = false;
    },
    onRefused: (lane, detail) => void confirmed.push(`${lane} ${detail}`),
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, seen, confirmed, retests, pass };
}

test("a refused key is tested at once, and after one, two, four, eight and ten minutes, until it is proved", async () => {
  let answer: Tested = { kind: "refused", detail: "401" };
  const { seen, confirmed, retests, pass } = setup(async () => answer);
  retests.refused(FAL);
  retests.refused(FAL);
  await pass(0);
  expect([seen.tests, confirmed]).toEqual([1, ["fal 401"]]);
  for (const [i, minutes] of [1, 2, 4, 8, 10, 10].entries()) {
    await pass(minutes * 60_000 - 1);
    expect(seen.tests).toBe(i + 1);
    await pass(1);
    expect(seen.tests).toBe(i + 2);
  }
  answer = { kind: "ok" };
  await pass(600_000);
  await pass(6_000_000);
  expect(seen).toEqual({ tests: 8, proved: 1, isRefused: false });
});

test("a key that was proved a moment ago is tested after a minute: something else may be refused as if it were the key", async () => {
  const { seen, retests, pass } = setup(async () => ({ kind: "ok" }));
  retests.refused(FAL);
  await pass(0);
  seen.isRefused = true;
  retests.refused(FAL);
  await pass(59_000);
  expect(seen.tests).toBe(1);
  await pass(1_000);
  expect([seen.tests, seen.proved]).toEqual([2, 2]);
  seen.isRefused = true;
  await pass(60_000);
  retests.refused(FAL);
  await pass(0);
  expect(seen.tests).toBe(3);
});

test("a test that fails proves nothing, and one at a start is made at once", async () => {
  const { seen, retests, pass } = setup(() => Promise.reject(new Error("no answer")));
  retests.start([FAL]);
  await pass(0);
  expect(seen).toEqual({ tests: 1, proved: 0, isRefused: true });
  await pass(60_000);
  expect(seen.tests).toBe(2);
});

test("an account that works again meanwhile, and one of a service that stops, are tested no more", async () => {
  const works = setup(async () => ({ kind: "ok" }));
  works.retests.refused(FAL);
  works.seen.isRefused = false;
  await works.pass(60_000);
  expect([works.seen.tests, works.seen.proved]).toEqual([0, 0]);
  const stops = setup(async () => ({ kind: "ok" }));
  stops.retests.refused(FAL);
  stops.retests.stop();
  await stops.pass(60_000);
  expect(stops.seen.tests).toBe(0);
});
