import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareRuns, linesOf } from "../compare/compare.ts";
import { measurement } from "../run/report.ts";
import { keepRecord, readRecord } from "./keep.ts";
import { placeFigures } from "./page.ts";
import {
  type BenchMeasurement,
  type BenchRun,
  type RunFacts,
  recordComparison,
  recordFigures,
} from "./record.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const FACTS: RunFacts = {
  version: "9.8.7",
  standing: { commit: COMMIT, isDirty: false },
  sources: "5ab1e",
  takenAt: new Date("2030-01-02T03:04:05.678Z"),
  command: "bun run bench --record",
  machine: {
    ...{ processor: "Invented 1", cores: 2, memoryGb: 8, system: "Linux 9.9", bun: "1.4.5", isPinned: true },
  },
  isQuick: false,
  rounds: 3,
};
const RATE: BenchMeasurement = {
  bench: "throughput",
  contention: 0.01,
  ...measurement({
    name: "whole tasks | all",
    unit: "tasks/s",
    values: [500, 700, 600],
    eachUs: { values: [2_000, 1_000, 3_000], baseline: [1_000, 1_000, 1_000] },
    baseline: { name: "bare", values: [1_000, 1_000, 1_000] },
    target: { kind: "leastRatio", value: 0.7 },
    renders: "the same 1×1 PNG each time",
    note: "invented",
  }),
};
const LATENCY: BenchMeasurement = {
  ...{ bench: "creates", contention: 0.06 },
  ...measurement({ name: "  p99", unit: "ms", values: [2, 1, 3] }),
};
const RUNS: readonly BenchRun[] = [
  {
    ...{ bench: "throughput", commit: COMMIT, takenAt: "2030-01-02T01:00:00.000Z", seconds: 41 },
    ...{ contention: 0.01, lines: [RATE] },
  },
  {
    ...{ bench: "creates", commit: "fedc", takenAt: "2030-01-01T23:00:00.000Z", seconds: 7 },
    ...{ contention: 0.06, lines: [LATENCY] },
  },
];

test("a record has every value of every round, when each bench was taken, and what was drawn", () => {
  expect(recordFigures(FACTS, RUNS)).toEqual({
    format: 1,
    kind: "figures",
    version: "9.8.7",
    commit: COMMIT,
    sources: "5ab1e",
    uncommitted_changes: false,
    taken_at: "2030-01-02T03:04:05.678Z",
    command: "bun run bench --record",
    machine: {
      ...{
        processor: "Invented 1",
        cores: 2,
        memory_gb: 8,
        system: "Linux 9.9",
        bun: "1.4.5",
        core_each: true,
      },
    },
    quick: false,
    rounds: 3,
    benches: [
      {
        ...{ bench: "throughput", commit: COMMIT, taken_at: "2030-01-02T01:00:00.000Z", seconds: 41 },
        others: 0.01,
      },
      {
        ...{ bench: "creates", commit: "fedc", taken_at: "2030-01-01T23:00:00.000Z", seconds: 7 },
        others: 0.06,
      },
    ],
    lines: [
      {
        ...{ bench: "throughput", name: "whole tasks | all", unit: "tasks/s" },
        ...{ median: 600, low: 500, high: 700, values: [500, 700, 600] },
        baseline: {
          name: "bare",
          median: 1_000,
          low: 1_000,
          high: 1_000,
          values: [1_000, 1_000, 1_000],
          ratio: 0.6,
        },
        processor_time_us: {
          ...{ median: 2_000, low: 1_000, high: 3_000, values: [2_000, 1_000, 3_000] },
          baseline: { median: 1_000, low: 1_000, high: 1_000, values: [1_000, 1_000, 1_000], ratio: 2 },
        },
        target: { kind: "leastRatio", value: 0.7, met: false },
        ...{ renders: "the same 1×1 PNG each time", note: "invented", others: 0.01 },
      },
      {
        ...{ bench: "creates", name: "p99", unit: "ms", median: 2, low: 1, high: 3, values: [2, 1, 3] },
        ...{ baseline: null, processor_time_us: null, target: null, renders: null, note: null, others: 0.06 },
      },
    ],
  });
});

test("a record of a comparison has both values of every pair, and what was not compared", () => {
  const runs = (value: number) =>
    Array.from({ length: 6 }, () =>
      linesOf([measurement({ name: "creates", unit: "req/s", values: [value] })]),
    );
  const record = recordComparison(FACTS, "fedc", 6, [
    { bench: "creates", lines: compareRuns(runs(100), runs(50)), contention: undefined },
    { bench: "routing", notCompared: "it is of this tree.", hasFailed: false },
  ]);
  expect(record).toMatchObject({ kind: "comparison", commit: COMMIT, against_commit: "fedc", pairs: 6 });
  expect(record.lines).toEqual([
    {
      ...{ bench: "creates", name: "creates", unit: "req/s", verdict: "worse", renders: null, others: null },
      before: [100, 100, 100, 100, 100, 100],
      after: [50, 50, 50, 50, 50, 50],
      ratio: { median: 0.5, low: 0.5, high: 0.5, confidence: 0.96875 },
    },
  ]);
  expect(record.not_compared).toEqual([{ bench: "routing", reason: "it is of this tree." }]);
});

const PAGE = [
  "# Figures",
  "<!-- figures of the record: written by `bun run bench --record` -->",
  "old",
  "<!-- end of the figures -->",
  "More.",
].join("\n");

test("the page says where each figure comes from, what it cost and what was drawn", () => {
  expect(placeFigures(PAGE, recordFigures(FACTS, RUNS)).split("\n")).toEqual([
    "# Figures",
    "<!-- figures of the record: written by `bun run bench --record` -->",
    "",
    "svc 9.8.7 at commit 0123456789ab, 2030-01-01 to 2030-01-02, `bun run bench --record`: medians of 3 interleaved rounds on",
    "Invented 1, 2 cores, 8 GB, Linux 9.9, Bun 1.4.5; servers on core 0, load on core 1. All values are in [the record](benchmarks/9.8.7.json).",
    "",
    "| `--only` | | svc | processor time of each | baseline, same run | ratio | draws |",
    "|---|---|---|---|---|---|---|",
    "| throughput | whole tasks \\| all | 600 tasks/s | 2,000 µs | 1,000 tasks/s: bare | 0.60 | the same 1×1 PNG each time |",
    "| creates | p99 | 2.00 ms |  |  |  |  |",
    "",
    "<!-- end of the figures -->",
    "More.",
  ]);
});

test("a kept record is read again, and its figures are on the page", () => {
  const root = mkdtempSync(join(tmpdir(), "svc-record-"));
  try {
    mkdirSync(join(root, "docs"));
    writeFileSync(join(root, "docs/benchmarks.md"), PAGE);
    const record = recordFigures(FACTS, RUNS);
    expect(readRecord(root, "9.8.7")).toBeUndefined();
    keepRecord(root, record);
    expect(readRecord(root, "9.8.7")).toEqual(record);
    expect(readFileSync(join(root, "docs/benchmarks.md"), "utf8")).toBe(placeFigures(PAGE, record));
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("placing figures again changes nothing, and a page without the marks is refused", () => {
  const placed = placeFigures(PAGE, undefined);
  expect(placed).toContain("\n\nThere is no record of this version yet.\n\n");
  expect(placeFigures(placed, undefined)).toBe(placed);
  expect(() => placeFigures("# Figures", undefined)).toThrow('The page lacks the lines "<!-- figures');
});
