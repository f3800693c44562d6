import { expect, test } from "bun:test";
import type { DiskMarks } from "../../src/domain/disk-marks.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { watchDisk } from "../../src/runtime/disk-watch.ts";

/** A watch that looks when it is told, at as much as the test says. */
function watched(given: Partial<DiskMarks>, first: number) {
  const told: string[] = [];
  const note = (level: string) => (_: object, message: string) => void told.push(`${level}: ${message}`);
  const log = Object.fromEntries(
    ["debug", "info", "warn", "error"].map((level) => [level, note(level)]),
  ) as unknown as Log;
  const troubles: boolean[] = [];
  const hands = { free: first as number | Error, look: () => {}, marks: given };
  const watch = watchDisk({
    log,
    clock: {
      after(_ms, then) {
        hands.look = then;
        return () => {};
      },
    },
    folders: () => ["a", "b"],
    spaceOf(folder) {
      if (hands.free instanceof Error) throw hands.free;
      return { free: folder === "a" ? hands.free * 1e6 : 1e13, total: 1e13 };
    },
    marks: () => ({ warn: undefined, refuse: undefined, ...hands.marks }),
    onTrouble: (isChange) => void troubles.push(isChange),
  });
  return {
    ...{ told, troubles, reading: watch.reading },
    set: (marks: Partial<DiskMarks>) => {
      hands.marks = marks;
    },
    at(free: number | Error) {
      hands.free = free;
      hands.look();
      return watch.state();
    },
    state: watch.state,
  };
}

test("the fullest disk decides, the log is told once of each change, and it heals by itself", () => {
  const { at, state, told, troubles, reading } = watched({ warn: 1000, refuse: 100 }, 5000);
  expect([state(), at(999), at(998), at(99), at(104), at(105), at(1049), at(1050)]).toEqual([
    "enough",
    "low",
    "low",
    "refusing",
    "refusing",
    "low",
    "low",
    "enough",
  ]);
  expect(told).toEqual([
    "warn: little space is free on the disk",
    "error: the disk is nearly full, and new tasks are refused",
    "warn: little space is free on the disk",
    "info: there is enough space on the disk again",
  ]);
  expect(troubles).toEqual([true, false, true, false, true, false]);
  at(7);
  expect(reading()).toEqual({ free: 7e6, total: 1e13, warnBelow: 1e9, refuseBelow: 1e8 });
});

test("without limits nothing is looked at, and what cannot be read changes nothing", () => {
  expect(watched({}, 0).state()).toBe("enough");
  const { at, told } = watched({ refuse: 100 }, 5);
  expect(at(new Error("gone"))).toBe("refusing");
  expect(told.at(-1)).toStartWith("warn: how much space");
  expect(at(500)).toBe("enough");
});

test("other limits hold from the next look on, also none", () => {
  const { at, set } = watched({ refuse: 100 }, 50);
  expect(at(50)).toBe("refusing");
  set({ warn: 100 });
  expect(at(50)).toBe("low");
  set({});
  expect(at(50)).toBe("enough");
  set({ warn: "auto", refuse: "auto" });
  expect([at(19_999), at(4_999), at(21_001)]).toEqual(["low", "refusing", "enough"]);
});
