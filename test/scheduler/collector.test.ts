import { expect, test } from "bun:test";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { type CollectorDeps, createCollector } from "../../src/scheduler/collector.ts";
import { createHeldFiles } from "../../src/scheduler/held-files.ts";
import { createLeftovers } from "../../src/scheduler/leftovers.ts";
import { fakeClock } from "../helpers/engine.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function setup() {
  const clock = fakeClock(0);
  const said: string[] = [];
  const note = (level: string) => (_: unknown, message: string) => void said.push(`${level} ${message}`);
  const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") } as Log;
  const pass = async (ms: number) => {
    for (let rest = ms; rest > 0; rest -= MINUTE) {
      clock.advance(MINUTE);
      for (let turn = 0; turn < 30; turn++) await Promise.resolve();
    }
  };
  return { clock, log, said, pass };
}

/** Files that nobody needs, with when they were stored. */
function collecting(stored: Map<string, number>) {
  const { clock, log, said, pass } = setup();
  const rounds: (readonly [minute: number, only: readonly string[] | undefined])[] = [];
  const collect: CollectorDeps["collect"] = async ({ only, onYoung }) => {
    rounds.push([clock.now() / MINUTE, only]);
    let files = 0;
    for (const [name, at] of stored) {
      if (only !== undefined && !only.includes(name)) continue;
      if (clock.now() - at < HOUR) onYoung(name);
      else {
        stored.delete(name);
        files += 1;
      }
    }
    return { files, bytes: files };
  };
  const collector = createCollector({ clock, log, collect });
  collector.start();
  return { rounds, stored, said, pass, collector };
}

test("what a kill left is gone an hour after it was stored, and all is looked at every six hours", async () => {
  const { rounds, stored, pass } = collecting(new Map([["left", -MINUTE]]));
  await pass(80 * MINUTE);
  expect(stored.size).toBe(0);
  expect(rounds).toEqual([
    [10, undefined],
    [71, ["left"]],
  ]);
  await pass(12 * HOUR);
  expect(rounds.slice(2)).toEqual([
    [370, undefined],
    [730, undefined],
  ]);
});

test("files that stay young are looked at once an hour, and do not put the round off", async () => {
  const { rounds, stored, pass } = collecting(new Map());
  for (let hour = 0; hour < 7; hour++) {
    stored.set(`at ${hour}`, hour * HOUR);
    await pass(HOUR);
  }
  expect(rounds.filter(([, only]) => only === undefined).map(([minute]) => minute)).toEqual([10, 370]);
  expect(rounds.length).toBeLessThan(9);
});

test("what could not be removed is tried again until it can, and not when somebody needs it by then", async () => {
  const { clock, log, said, pass } = setup();
  const left = new Set(["one", "two"]);
  let isAway = true;
  const removed: string[] = [];
  const leftovers = createLeftovers({
    ...{ clock, log, left },
    async remove(sha256) {
      if (isAway) throw new Error("away");
      removed.push(sha256);
      return true;
    },
  });
  leftovers.start();
  await pass(4 * MINUTE);
  expect([[...left].sort(), said.length]).toEqual([["one", "two"], 2]);
  isAway = false;
  await pass(5 * MINUTE);
  expect([left.size, removed.sort()]).toEqual([0, ["one", "two"]]);
  expect(said.at(-1)).toContain("are gone");
  left.add("three");
  leftovers.stop();
  await pass(10 * MINUTE);
  expect([...left]).toEqual(["three"]);
});

test("what may not go yet is tried again a minute later, and told of when it is gone", async () => {
  const { clock, log, said, pass } = setup();
  const left = new Set(["young"]);
  let tries = 0;
  const leftovers = createLeftovers({
    ...{ clock, log, left },
    async remove(sha256) {
      tries += 1;
      if (tries < 3) left.add(sha256);
      return tries === 3;
    },
  });
  leftovers.start();
  await pass(2 * MINUTE);
  expect([tries, said]).toEqual([2, []]);
  await pass(2 * MINUTE);
  expect([tries, left.size, said.length]).toEqual([3, 0, 1]);
  leftovers.stop();
});

test("files in use are marked as such several times an hour, whatever becomes of one time", async () => {
  const { clock, log, said, pass } = setup();
  let times = 0;
  const renewHeld = () => {
    times += 1;
    if (times === 1) throw new Error("EIO");
  };
  const files = createHeldFiles({ assets: { renewHeld }, clock, log });
  files.start();
  await pass(HOUR);
  files.stop();
  await pass(HOUR);
  expect([times, said]).toEqual([6, ["warn files in use could not be marked as such"]]);
});
