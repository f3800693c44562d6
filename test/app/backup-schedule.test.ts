import { expect, test } from "bun:test";
import { createBackupSchedule } from "../../src/app/backup-schedule.ts";
import type { BackupResult } from "../../src/app/backup-worker.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { fakeClock } from "../helpers/engine.ts";

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const NOW = Date.UTC(2026, 10, 23);
const DONE = {
  kind: "done",
  path: "/b/x",
  files: 1,
  bytes: 2,
  copiedBytes: 2,
  missing: 0,
  removed: 0,
} as const;

/** A schedule of a day, with what it makes and says. */
function setup(newest?: number, results: readonly BackupResult[] = []) {
  const clock = fakeClock(NOW);
  const made: number[] = [];
  const said: string[] = [];
  const note = (level: string) => (_: unknown, message: string) =>
    void said.push(`${level} ${message.split(";")[0]}`);
  const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") } as Log;
  const schedule = createBackupSchedule(
    {
      ...{ clock, log },
      newestAt: async () => newest,
      async make(at) {
        const result = results[made.length] ?? DONE;
        made.push((at - NOW) / MINUTE);
        // The newest by its date, whichever was made last.
        if (result.kind === "done") newest = Math.max(newest ?? at, at);
        return result;
      },
    },
    DAY,
  );
  schedule.start();
  /** Lets time pass, minute by minute. */
  const pass = async (ms: number, stepMs = MINUTE) => {
    for (let rest = ms; rest > 0; rest -= stepMs) {
      clock.advance(stepMs);
      for (let turn = 0; turn < 4; turn++) await Promise.resolve();
    }
  };
  return { clock, made, said, schedule, pass };
}

test("the first backup is made a minute after the start, and then one a day", async () => {
  const { made, said, schedule, pass } = setup();
  await pass(3 * DAY);
  expect(made).toEqual([1, 1441, 2881]);
  expect(new Set(said)).toEqual(new Set(["info backed up"]));
  expect(schedule.state()).toEqual({ lastAt: NOW + 2881 * MINUTE });
});

test("a service that is started again and again backs up when the newest backup is a day old", async () => {
  const { made, pass } = setup(NOW - 23 * HOUR);
  await pass(50 * MINUTE);
  expect(made).toEqual([]);
  await pass(DAY);
  expect(made).toEqual([60]);
});

test("a backup that fails is told with what to do, and tried again every ten minutes", async () => {
  const failed = { kind: "failed", message: "the disk is full" } as const;
  const { made, said, schedule, pass } = setup(NOW - 2 * DAY, [failed, failed]);
  await pass(12 * MINUTE);
  expect(made).toEqual([1, 11]);
  expect(said[0]).toStartWith("error the data folder could not be backed up");
  expect(schedule.state()).toEqual({
    lastAt: NOW - 2 * DAY,
    failing: { since: NOW + MINUTE, reason: "the disk is full" },
  });
  await pass(10 * MINUTE);
  expect([made, schedule.state()]).toEqual([[1, 11, 21], { lastAt: NOW + 21 * MINUTE }]);
});

test("a clock that was set back does not make a backup due, nor put the next one off for ever", async () => {
  const { made, pass } = setup(NOW + 2 * HOUR);
  await pass(2 * DAY, 10 * MINUTE);
  expect(made).toEqual([1560]);
});

test("a backup of a far future, from a clock that was ahead, leaves the others at their pace", async () => {
  const { made, pass } = setup(NOW + 365 * DAY);
  await pass(3 * DAY + 2 * MINUTE);
  expect(made).toEqual([1, 1441, 2881, 4321]);
});

test("files that are missing are a warning, and a schedule that is stopped makes nothing", async () => {
  const { said, schedule, made, pass } = setup(undefined, [{ ...DONE, missing: 2 }]);
  await pass(MINUTE);
  expect(said).toEqual(["warn backed up"]);
  schedule.stop();
  await pass(2 * DAY);
  expect(made).toEqual([1]);
});

test("a backup that does not end counts as one that fails, once the next one would be due", async () => {
  const clock = fakeClock(NOW);
  const { promise: hanging, resolve } = Promise.withResolvers<BackupResult>();
  const log = { info() {}, warn() {}, error() {} } as unknown as Log;
  const deps = { clock, log, newestAt: async () => undefined, make: () => hanging };
  const schedule = createBackupSchedule(deps, DAY);
  schedule.start();
  clock.advance(MINUTE);
  await new Promise(setImmediate);
  clock.advance(DAY);
  expect(schedule.state()).toEqual({});
  clock.advance(1);
  expect(schedule.state()).toEqual({
    failing: { since: NOW + MINUTE, reason: "The one that was begun then has not ended." },
  });
  resolve(DONE);
  await new Promise(setImmediate);
  expect(schedule.state()).toEqual({ lastAt: NOW + MINUTE });
});
