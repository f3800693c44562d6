import { expect, test } from "bun:test";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { watchDisk } from "../../src/runtime/disk-watch.ts";

/** A watch that looks when it is told, at as much as the test says. */
function watched(limits: { warnBelow?: number; refuseBelow?: number }, first: number) {
  const told: string[] = [];
  const note = (level: string) => (_: object, message: string) => void told.push(`${level}: ${message}`);
  const log = Object.fromEntries(
    ["debug", "info", "warn", "error"].map((level) => [level, note(level)]),
  ) as unknown as Log;
  const hands = { free: first as number | Error, look: () => {} };
  const watch = watchDisk({
    log,
    clock: {
      after(_ms, then) {
        hands.look = then;
        return () => {};
      },
    },
    folders: () => ["a", "b"],
    freeBytes(folder) {
      if (hands.free instanceof Error) throw hands.free;
      return folder === "a" ? hands.free : 1e9;
    },
    ...{ warnBelow: limits.warnBelow, refuseBelow: limits.refuseBelow, advice: "do this" },
  });
  return {
    told,
    at(free: number | Error) {
      hands.free = free;
      hands.look();
      return watch.state();
    },
    state: watch.state,
  };
}

test("the fullest disk decides, the log is told once of each change, and it heals by itself", () => {
  const { at, state, told } = watched({ warnBelow: 1000, refuseBelow: 100 }, 5000);
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
    "warn: little space is free on the disk; do this",
    "error: the disk is nearly full, and new tasks are refused; do this",
    "warn: little space is free on the disk; do this",
    "info: there is enough space on the disk again",
  ]);
});

test("without limits nothing is looked at, and what cannot be read changes nothing", () => {
  expect(watched({}, 0).state()).toBe("enough");
  const { at, told } = watched({ refuseBelow: 100 }, 5);
  expect(at(new Error("gone"))).toBe("refusing");
  expect(told.at(-1)).toStartWith("warn: how much space");
  expect(at(500)).toBe("enough");
});
