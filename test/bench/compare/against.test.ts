import { expect, test } from "bun:test";
import type { Bench } from "../benches/bench.ts";
import { measurement } from "../run/report.ts";
import { compareBenches } from "./against.ts";
import { renderComparison } from "./render.ts";

const steady: Bench = async () => [measurement({ name: "creates", unit: "req/s", values: [1_000] })];
const broken: Bench = () => Promise.reject(new Error("no such table: callback"));
const empty: Bench = async () => [];

const compare = (benches: readonly (readonly [string, Bench])[]) =>
  compareBenches(benches, {
    pairs: 6,
    canCompare: (name) => name !== "routing",
    // No bench here looks at what it is given.
    measure: (bench) => bench({} as never),
    watch: () => () => 0.25,
    say: () => undefined,
  });

test("a bench that fails is named with the build that it failed with, and the next one runs", async () => {
  const found = await compare([
    ["callbacks", broken],
    ["creates", steady],
  ]);
  expect(found[0]).toEqual({
    bench: "callbacks",
    notCompared: "it failed with the build before: no such table: callback",
    hasFailed: true,
  });
  expect(found[1]).toMatchObject({
    bench: "creates",
    contention: 0.25,
    lines: [{ verdict: "no difference" }],
  });
});

test("a bench of this tree's sources is not run, and that is no failure", async () => {
  const [found] = await compare([["routing", broken]]);
  expect(found).toMatchObject({ bench: "routing", hasFailed: false });
});

test("the report says no difference, how sure that is, who else was busy, and what was not compared", async () => {
  const text = renderComparison(
    await compare([
      ["creates", steady],
      ["gateway", empty],
    ]),
  );
  expect(text).toMatch(
    /creates +│ +1,000 req\/s │ 1,000 req\/s │ 1\.000 │ 1\.000–1\.000 │ no difference │ +25 %/,
  );
  expect(text).toContain("misses the true ratio in 3.1 % of cases: of 1 lines");
  expect(text).toContain("others: share of the processors");
  expect(text).toEndWith("gateway: not compared; it measures nothing on this machine.");
});
