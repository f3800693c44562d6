import { expect, test } from "bun:test";
import { type Measurement, measurement, type Unit } from "../run/report.ts";
import { compareRuns, linesOf, runPairs, type Side } from "./compare.ts";

const one = (value: number, unit: Unit = "req/s", name = "creates"): Measurement[] => [
  measurement({ name, unit, values: [value] }),
];
/** Six pairs of one figure. */
const compared = (before: readonly number[], after: readonly number[], unit?: Unit) =>
  compareRuns(
    before.map((value) => linesOf(one(value, unit))),
    after.map((value) => linesOf(one(value, unit))),
  ).map(({ ratio, verdict }) => ({ ratio: ratio && [ratio.low, ratio.median, ratio.high], verdict }));
const WAS = [100, 200, 400, 100, 200, 400];

test("the order alternates within pairs", async () => {
  const order: string[] = [];
  await runPairs(3, async (side, pair) => {
    order.push(`${pair} ${side}`);
    return one(1);
  });
  expect(order).toEqual(["0 before", "0 after", "1 after", "1 before", "2 before", "2 after"]);
});

test("values of one pair stay together, whichever came first", async () => {
  let now = 0;
  const [line] = await runPairs(6, async (side: Side) => {
    now += 1;
    return one(side === "before" ? now : now * 2);
  });
  expect(line?.before).toEqual([1, 4, 5, 8, 9, 12]);
  expect(line?.after).toEqual([4, 6, 12, 14, 20, 22]);
});

test("an interval that holds 1 is no difference", () => {
  expect(compared(WAS, WAS)).toEqual([{ ratio: [1, 1, 1], verdict: "no difference" }]);
  expect(compared(WAS, [150, 300, 600, 150, 300, 398])).toEqual([
    { ratio: [0.995, 1.5, 1.5], verdict: "no difference" },
  ]);
});

test.each([
  ["req/s", "better", "worse"],
  ["tasks/s", "better", "worse"],
  ["MB/s", "better", "worse"],
  ["ms", "worse", "better"],
  ["µs", "worse", "better"],
  ["MB", "worse", "better"],
  ["KB", "worse", "better"],
  ["%", "worse", "better"],
] as const)("more %s is %s, and less is %s", (unit, more, less) => {
  const double = WAS.map((value) => value * 2);
  expect(compared(WAS, double, unit)).toEqual([{ ratio: [2, 2, 2], verdict: more }]);
  expect(compared(double, WAS, unit)).toEqual([{ ratio: [0.5, 0.5, 0.5], verdict: less }]);
});

test("a ratio to nothing is left out, and too few ratios show nothing", () => {
  expect(compared([0, ...WAS.slice(1)], WAS)).toEqual([{ ratio: undefined, verdict: "too few pairs" }]);
  expect(compared([0, ...WAS], [5, ...WAS])).toEqual([{ ratio: [1, 1, 1], verdict: "no difference" }]);
});

test("a figure that only one build has is left out", () => {
  const both = [...one(1), ...one(2, "ms", "latency")];
  const names = compareRuns([linesOf(one(1))], [linesOf(both)]).map(({ name }) => name);
  expect(names).toEqual(["creates"]);
});

test("a run gives each figure once, and the processor time behind a rate as a line of its own", () => {
  const rate = { name: "creates", unit: "req/s", eachUs: { values: [50, 70, 60] } } as const;
  const lines = linesOf([
    measurement({ ...rate, values: [10, 30, 20], baseline: { name: "one", values: [1, 1, 1] } }),
    measurement({ ...rate, values: [10, 30, 20], baseline: { name: "another", values: [2, 2, 2] } }),
  ]);
  expect(lines).toEqual([
    { name: "creates", unit: "req/s", value: 20, renders: undefined },
    { name: "  creates: processor time of each", unit: "µs", value: 60, renders: undefined },
  ]);
});
