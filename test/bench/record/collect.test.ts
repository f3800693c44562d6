import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "../run/machine.ts";
import { measurement } from "../run/report.ts";
import { collectPieces } from "./collect.ts";
import { openPieces } from "./pieces.ts";
import type { BenchRun } from "./record.ts";

const MACHINE: Machine = {
  ...{ processor: "Invented 1", cores: 2, memoryGb: 8, system: "Linux 9.9", bun: "1.4.5", isPinned: true },
};

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

function newFolder(): string {
  folder = mkdtempSync(join(tmpdir(), "svc-pieces-"));
  return folder;
}

function run(bench: string, more: Partial<BenchRun> = {}): BenchRun {
  const found = measurement({ name: `${bench}, all`, unit: "req/s", values: [500, 700, 600] });
  return {
    ...{ bench, commit: "fedc", takenAt: "2030-01-02T03:04:05.678Z", seconds: 41, contention: 0.01 },
    lines: [{ ...found, bench, contention: 0.01 }],
    ...more,
  };
}

/** Measures with what the script says of each bench, one answer a time, then with what nobody disturbs. */
function setup(script: Readonly<Record<string, readonly Partial<BenchRun>[]>> = {}) {
  const root = newFolder();
  const pieces = openPieces(root, "5ab1e", MACHINE);
  const measured: string[] = [];
  const collect = (benches: readonly string[], isUnchanged = true) =>
    collectPieces(benches, {
      pieces,
      async measure(bench) {
        const times = measured.filter((each) => each === bench).length;
        measured.push(bench);
        return run(bench, script[bench]?.[times]);
      },
      isUnchanged: async () => isUnchanged,
      say: () => undefined,
    });
  return { root, pieces, measured, collect };
}

test("a bench that was kept is not measured again", async () => {
  const { collect, measured, pieces } = setup();
  expect(await collect(["creates"])).toEqual([]);
  expect(await collect(["creates", "statuses"])).toEqual([]);
  expect(measured).toEqual(["creates", "statuses"]);
  expect(pieces.read("creates")).toEqual(run("creates"));
});

test("a bench that others disturbed is measured again after the others, and kept once it is quiet", async () => {
  const { collect, measured, pieces } = setup({ creates: [{ contention: 0.06 }, { contention: 0.05 }] });
  expect(await collect(["creates", "statuses"])).toEqual([]);
  expect(measured).toEqual(["creates", "statuses", "creates"]);
  expect(pieces.read("creates")?.contention).toBe(0.05);
});

test("a bench that others always disturb is measured three times and never kept", async () => {
  const noisy = { contention: 0.5 };
  const { collect, measured, pieces } = setup({ creates: [noisy, noisy, noisy] });
  expect(await collect(["creates", "statuses"])).toEqual([
    "creates was disturbed 3 times by others on the machine.",
  ]);
  expect(measured).toEqual(["creates", "statuses", "creates", "creates"]);
  expect(pieces.read("creates")).toBeUndefined();
  expect(pieces.read("statuses")).toEqual(run("statuses"));
});

test("a bench that fails, finds nothing or cannot tell who disturbs it is not kept, and the next is measured", async () => {
  const { collect, measured, pieces } = setup({
    creates: [{ lines: [], failure: "no such table: task" }],
    gateway: [{ lines: [] }],
    starts: [{ contention: undefined }],
  });
  const benches = ["creates", "gateway", "starts", "statuses"];
  expect(await collect(benches)).toEqual([
    "creates failed: no such table: task",
    "gateway could not be measured here.",
    "starts was not kept, for this system does not tell what others use.",
  ]);
  expect(measured).toEqual(benches);
  expect(benches.filter((bench) => pieces.read(bench) !== undefined)).toEqual(["statuses"]);
});

test("a bench beside which the sources changed is not kept, and nothing more is measured", async () => {
  const { collect, measured, pieces } = setup();
  expect(await collect(["creates", "statuses"], false)).toEqual([
    "creates was not kept, for the sources changed meanwhile; nothing more was measured.",
  ]);
  expect(measured).toEqual(["creates"]);
  expect(pieces.read("creates")).toBeUndefined();
});

test("a piece of other sources or of another machine is not used", () => {
  const root = newFolder();
  openPieces(root, "5ab1e", MACHINE).keep(run("creates"));
  expect(openPieces(root, "5ab1e", { ...MACHINE }).read("creates")).toEqual(run("creates"));
  expect(openPieces(root, "07he5", MACHINE).read("creates")).toBeUndefined();
  expect(openPieces(root, "5ab1e", { ...MACHINE, bun: "1.4.6" }).read("creates")).toBeUndefined();
});

test("a piece is a file under its own name only when it is whole", () => {
  const root = newFolder();
  const pieces = openPieces(root, "5ab1e", MACHINE);
  pieces.keep(run("statuses"));
  const kept = join(root, ".cache/bench/record/5ab1e");
  expect(readdirSync(kept)).toEqual(["statuses.json"]);
  // As a process that was killed while it wrote leaves it.
  writeFileSync(join(kept, "creates.json.tmp"), '{"mach');
  expect(pieces.read("creates")).toBeUndefined();
  pieces.keep(run("creates"));
  expect(pieces.read("creates")).toEqual(run("creates"));
  expect(existsSync(join(kept, "creates.json.tmp"))).toBe(false);
});
