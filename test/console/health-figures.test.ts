import { describe, expect, test } from "bun:test";
import { durationText } from "../../console/parts/duration.ts";
import { beatsOf, beatText, summaryOf } from "../../console/screens/health/beats.ts";
import { type Readiness, verdictOn } from "../../console/screens/health/readiness.ts";
import {
  axisText,
  columnsOf,
  csvOf,
  minutesOf,
  sortedRoutes,
  valueText,
} from "../../console/screens/health/series.ts";
import * as settings from "../../console/screens/settings/list.ts";
import { verdictOn as reloadVerdictOn, toneOf } from "../../console/screens/settings/reloaded.ts";
import { MINUTE_FIGURES } from "../../src/domain/history.ts";
import { minutes, START } from "./support/answers.ts";

const ends = (completed: number, failed: number) => ({
  ...{ completed, failed },
  error_rate: completed + failed === 0 ? null : failed / (completed + failed),
});
const route = (upstream_model: string, hour: [number, number], day: [number, number]) => ({
  ...{ provider: "sandbox", upstream_model, hour: ends(...hour), day: ends(...day) },
});

describe("minutes", () => {
  const tasks = { lines: [["Completed", "completed"] as const, ["Failed", "failed"] as const] };

  test("are lines of a plot, with a gap where some are missing, and rows of a table, the latest first", () => {
    const { at, ...rest } = minutes(3, { completed: (i) => i, failed: () => 7 });
    // The second and the third are half an hour apart; reading a minute takes a moment, which is no gap.
    const history = { at: [START, START + 61, START + 1_800], ...rest };
    expect(at).toHaveLength(3);
    expect(columnsOf(history, tasks)).toEqual([
      [START, START + 61, START + 121, START + 1_800],
      [0, 1, null, 2],
      [7, 7, null, 7],
    ]);
    expect(minutesOf(history, tasks)).toEqual([
      { at: START + 1_800, values: [2, 7] },
      { at: START + 61, values: [1, 7] },
      { at: START, values: [0, 7] },
    ]);
  });

  test("are a file of all figures, exact", () => {
    const [head, first, second, end] = csvOf(minutes(2, { wal_bytes: (i) => 4_096.25 + i })).split("\r\n");
    expect(head).toBe(["minute_end", ...MINUTE_FIGURES].join());
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z,0,.*,4096\.25$/);
    expect([second?.endsWith(",4097.25"), end]).toEqual([true, ""]);
  });

  test("of time are told as people say them", () => {
    const texts = [840.4, 999.7, 1_000, 12_440, 59_990, 200_000, 7_500_000, 7_200_000].map(durationText);
    expect(texts).toEqual(["840 ms", "1 s", "1 s", "12.4 s", "1 min", "3 min 20 s", "2 h 5 min", "2 h"]);
  });

  test("are told in their unit", () => {
    const texts = [
      valueText("bytes", 999),
      valueText("bytes", 2_140_000_000),
      valueText("bytes", 3.04e12),
      valueText("count", 12_000),
      valueText("ms", 0.254),
      valueText("ms", 1_500),
      axisText("count", 12_000),
    ];
    expect(texts).toEqual(["999 bytes", "2.1 GB", "3 TB", "12,000", "0.25 ms", "1.5 s", "12K"]);
  });

  test("of a day are sixty bars, each as bad as its worst minute", () => {
    const day = minutes(1_440, {
      answered_2xx: (i) => (i < 1_416 ? 1 : 0),
      answered_5xx: (i) => (i === 25 ? 2 : 0),
      failed: (i) => (i === 25 || i === 50 ? 1 : 0),
    });
    const beats = beatsOf(day);
    expect(beats).toHaveLength(60);
    expect(beats.slice(0, 4).map(({ worst }) => worst)).toEqual(["fine", "faults", "failures", "fine"]);
    expect(beats.at(-1)?.worst).toBe("idle");
    expect(beats[1]).toEqual({
      since: START + 23 * 60,
      until: START + 47 * 60,
      ...{ worst: "faults", faults: 2, failures: 1 },
    });
    expect(summaryOf(beats)).toBe("2 answers were an error of the service (5xx), and 2 tasks failed.");
    expect(beats.slice(0, 3).map(beatText)).toEqual([
      "all went well",
      "2 answers 5xx, 1 failed task",
      "0 answers 5xx, 1 failed task",
    ]);
    expect(summaryOf(beatsOf(minutes(3)))).toContain("No answer was an error");
    expect([beatsOf(minutes(0)), beatsOf(minutes(61)).length]).toEqual([[], 31]);
  });
});

test("routes that fail most come first, and those without attempts last", () => {
  const routes = [
    route("idle", [0, 0], [5, 5]),
    route("unused", [0, 0], [0, 0]),
    route("well", [9, 0], [90, 0]),
    route("bad", [1, 9], [50, 50]),
    route("busy", [90, 0], [900, 0]),
  ];
  const names = sortedRoutes(routes).map(({ upstream_model }) => upstream_model);
  expect(names).toEqual(["bad", "busy", "well", "idle", "unused"]);
});

test("a verdict says first what cannot be done, then what a check found", () => {
  const check = (status: string) => ({ id: "wal", status, message: "m", fix: null });
  const well: Readiness = {
    ...{ ready: true, reason: null, shedding: [], warnings: [], checks: [check("ok")] },
  };
  const told = (more: Partial<Readiness>) => verdictOn({ ...well, ...more });
  expect(told({})).toEqual({ text: "All is well", tone: "good", more: [] });
  expect(told({ ready: false, reason: "disk_full" })).toMatchObject({
    ...{ text: "No new tasks are taken: disk full", tone: "bad" },
  });
  expect(told({ checks: [check("error"), check("warn")] })).toMatchObject({
    ...{ text: "New tasks are taken, but 1 check failed", tone: "bad" },
  });
  expect(told({ checks: [check("warn")] }).tone).toBe("warn");
  expect(told({ shedding: ["creates", "newer"] })).toMatchObject({
    ...{ tone: "warn", more: ["There is too much to do. A part is refused of: new tasks, newer."] },
  });
  expect(told({ warnings: ["disk_low"] }).more).toHaveLength(1);
});

const setting = (key: string, more: Partial<settings.Setting> = {}): settings.Setting => ({
  ...{ key, description: null, value: null, source: "default", where: null, default: null, restart: null },
  ...more,
});

describe("settings", () => {
  const all = [
    setting("host", { value: "127.0.0.1", restart: "the address is listened on" }),
    setting("log.level", { value: "debug", source: "file", where: "/srv/svc.yaml:3:7" }),
    setting("sync.wait_seconds", { value: 300, description: "how long a synchronous call waits" }),
    setting("providers.fal.concurrency", { value: 4, source: "variable", where: "SVC_PROVIDERS_FAL" }),
    setting("FAL_KEY", { value: settings.MASK, source: "variable", restart: "a process keeps them" }),
  ];
  const found = (asked: Record<string, string>) =>
    settings.fitting(all, settings.filtersOf(asked)).map(({ key }) => key);

  test("are found by words of name, description, value and origin, and by what the address says else", () => {
    expect(found({ q: "LEVEL log" })).toEqual(["log.level"]);
    expect(found({ q: "synchronous 300" })).toEqual(["sync.wait_seconds"]);
    expect(found({ q: "svc.yaml" })).toEqual(["log.level"]);
    expect(found({ from: "given" })).toEqual(["log.level", "providers.fal.concurrency", "FAL_KEY"]);
    expect(found({ from: "variable", takes: "now" })).toEqual(["providers.fal.concurrency"]);
    expect(found({ takes: "restart" })).toEqual(["host", "FAL_KEY"]);
    expect(found({ from: "nowhere", takes: "__proto__" })).toHaveLength(all.length);
    expect(found({ q: "none of these" })).toEqual([]);
  });

  test("stand together by the first part of their names, each provider by itself", () => {
    const titles = settings.grouped(all).map(({ title, settings: some }) => [title, some.length]);
    expect(titles).toEqual([
      ["General", 1],
      ["log", 1],
      ["sync", 1],
      ["providers.fal", 1],
      ["Keys in variables", 1],
    ]);
  });

  test("have values that people read", () => {
    const values = [true, false, null, 0, "", [], ["a", 2], [{ name: "a" }], { to: "b" }];
    expect(values.map(settings.valueText)).toEqual([
      ...["on", "off", "", "0", "", "none", "a, 2"],
      ...['[\n  {\n    "name": "a"\n  }\n]', '{\n  "to": "b"\n}'],
    ]);
  });

  test("read anew are told by what came of them", () => {
    const reloaded = (more: object) => ({
      ...{ in_force: true, changed: [], restart: [], problems: [] },
      ...more,
    });
    const outcomes = [
      reloaded({}),
      reloaded({ changed: ["a"] }),
      reloaded({ restart: ["b"] }),
      reloaded({ changed: ["a"], restart: ["b"] }),
      reloaded({ in_force: false, problems: ["svc.yaml:1:1: x"] }),
    ];
    expect(outcomes.map(toneOf)).toEqual(["good", "good", "warn", "warn", "bad"]);
    expect(new Set(outcomes.map(reloadVerdictOn)).size).toBe(outcomes.length);
  });
});
