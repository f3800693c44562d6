import { expect, test } from "bun:test";
import { distances } from "../../../cli/dev/import-graph.ts";
import { readFailedFiles, readTestCounts } from "../../../cli/dev/steps.ts";

test("the counts of a run are those of its summary, and of each file that skipped checks", () => {
  const output = [
    "(pass) says that there are",
    " 7 pass",
    "9 checks skipped: a.json is not here",
    "2 checks skipped: b.json is not here",
    "",
    " 12 pass",
    " 3 skip",
    " 1 fail",
    "Ran 16 tests across 2 files.",
  ].join("\n");
  expect(readTestCounts(output)).toEqual({ passed: 12, failed: 1, skipped: 3, skippedChecks: 11 });
});

test("a run that tells no summary has counted nothing", () => {
  expect(readTestCounts("error: no such file")).toEqual({
    passed: 0,
    failed: 0,
    skipped: 0,
    skippedChecks: 0,
  });
});

test("a file has failed that has a failed test below its name, however many", () => {
  const output = [
    "test/console/size.test.ts:",
    "a warning",
    "test/console/hostile.test.ts:",
    "TimeoutError: at test/console/hostile.test.ts:104:82",
    "(fail) hostile content > is text [20478.20ms]",
    "(fail) hostile content > is a picture",
    "test/console/parts.test.ts:",
    " 2 fail",
  ].join("\n");
  expect(readFailedFiles(output)).toEqual(["test/console/hostile.test.ts"]);
});

const IMPORTERS = new Map([
  ["src/money.ts", new Set(["src/quote.ts", "test/money.test.ts"])],
  ["src/quote.ts", new Set(["src/money.ts", "test/quote.test.ts"])],
  ["test/money.test.ts", new Set<string>()],
  ["test/quote.test.ts", new Set<string>()],
]);

test("a change reaches whoever imports it, however far away, also around a circle", () => {
  expect(distances(IMPORTERS, ["src/money.ts"])).toEqual(
    new Map([
      ["src/money.ts", 0],
      ["src/quote.ts", 1],
      ["test/money.test.ts", 1],
      ["test/quote.test.ts", 2],
    ]),
  );
});

test("a file that nobody imports stands for the sources beside it, or above", () => {
  expect([...distances(IMPORTERS, ["src/rules/data.json"]).keys()]).toContain("test/quote.test.ts");
  expect(distances(IMPORTERS, ["README.md"]).size).toBe(0);
});
