import { describe, expect, test } from "bun:test";
import type { LaneId, TaskId } from "../../src/domain/ids.ts";
import type { Rates } from "../../src/domain/ports/provider.ts";
import { LONGEST_DELAY_MS } from "../../src/domain/task/backoff.ts";
import { createPace } from "../../src/scheduler/routing/pace.ts";
import { whole } from "../helpers/store.ts";

const [A, B] = ["bfl", "bfl/second"] as unknown as [LaneId, LaneId];
const task = (name: string) => name as TaskId;

function setup(rates: Rates = {}) {
  const clock = { at: 1_000, elapsed: () => clock.at };
  return { clock, pace: createPace({ clock, rates: (lane) => (lane === A ? rates : undefined) }) };
}

describe("submissions", () => {
  test("have no limit unless one is given", () => {
    const { pace } = setup();
    expect([pace.starts(A), pace.submit(whole(A)), pace.submit(whole(A))]).toEqual([undefined, 0, 0]);
  });

  test("are spread evenly, so that no minute has more than the limit", () => {
    const { pace, clock } = setup({ submissionsPerMinute: 6 });
    const taken: number[] = [];
    for (; clock.at < 61_000; clock.at += 500) if (pace.submit(whole(A)) === 0) taken.push(clock.at);
    expect(taken).toEqual([1_000, 11_000, 21_000, 31_000, 41_000, 51_000]);
  });

  test("that are refused are told how long to wait, and take nothing", () => {
    const { pace, clock } = setup({ submissionsPerMinute: 60 });
    expect([pace.starts(A), pace.submit(whole(A))]).toEqual([1, 0]);
    clock.at += 300;
    expect([pace.starts(A), pace.startsInMs(A), pace.submit(whole(A)), pace.submit(whole(A))]).toEqual([
      0, 700, 700, 700,
    ]);
    clock.at += 700;
    expect([pace.starts(A), pace.submit(whole(A))]).toEqual([1, 0]);
  });

  test("do not add up while nothing is submitted", () => {
    const { pace, clock } = setup({ submissionsPerMinute: 60 });
    clock.at += 3_600_000;
    expect([pace.submit(whole(A)), pace.submit(whole(A))]).toEqual([0, 1_000]);
  });

  test("of many a second make up for late timers, and never exceed it", () => {
    const { pace, clock } = setup({ submissionsPerMinute: 6_000 });
    let taken = 0;
    for (; clock.at < 2_000; clock.at += 15) while (pace.submit(whole(A)) === 0) taken += 1;
    expect(taken).toBe(100);
  });

  test("of one account do not count for another", () => {
    const { pace } = setup({ submissionsPerMinute: 1 });
    expect([pace.submit(whole(A)), pace.submit(whole(B)), pace.submit(whole(B))]).toEqual([0, 0, 0]);
  });
});

describe("polls", () => {
  test("keep their place, so that every task has its turn", () => {
    const { pace, clock } = setup({ pollsPerMinute: 60 });
    const waits = ["a", "b", "c"].map((name) => pace.poll(whole(A), task(name)));
    expect(waits).toEqual([0, 1_100, 2_200]);
    clock.at += 1_100;
    // The first one comes again, and its turn is after those that wait.
    expect(["a", "c", "b"].map((name) => pace.poll(whole(A), task(name)))).toEqual([2_200, 1_100, 0]);
    clock.at += 1_100;
    expect(["c", "a"].map((name) => pace.poll(whole(A), task(name)))).toEqual([0, 1_100]);
  });

  test("of tasks that never come back leave their places free in the end", () => {
    const { pace, clock } = setup({ pollsPerMinute: 60 });
    for (const name of ["a", "b", "c"]) pace.poll(whole(A), task(name));
    clock.at += 120_000;
    expect(["b", "d"].map((name) => pace.poll(whole(A), task(name)))).toEqual([0, 1_100]);
  });

  test("that come late, because the process was held up, fill no second over the rate", () => {
    const { pace, clock } = setup({ pollsPerMinute: 6_000 });
    const due = new Map(Array.from({ length: 2_000 }, (_, index) => [task(`t${index}`), clock.at]));
    const sent: number[] = [];
    let waits = 0;
    const end = clock.at + 60_000;
    // The process is held up for 400 ms every 10 s.
    for (; clock.at < end; clock.at += clock.at % 10_000 === 0 ? 400 : 10) {
      for (const [id, at] of due) {
        if (at > clock.at) continue;
        const waitMs = pace.poll(whole(A), id);
        due.set(id, clock.at + (waitMs || 2_000));
        if (waitMs === 0) sent.push(clock.at);
        else waits += 1;
      }
    }
    const most = sent.map((at) => sent.filter((each) => each >= at && each < at + 1_000).length);
    expect(Math.max(...most)).toBe(100);
    expect(sent.length).toBeGreaterThan(58 * 90);
    // Nearly all wait once: a late turn is made up for, and does not push back the ones behind it.
    expect(waits).toBeLessThan(sent.length * 1.6);
  });
});

describe("an account whose upstream asks for a pause", () => {
  test("starts and asks nothing until then, and others go on", () => {
    const { pace, clock } = setup();
    pace.slow(whole(A), 5_000);
    expect([
      pace.pausedMs(whole(A)),
      pace.starts(A),
      pace.submit(whole(A)),
      pace.poll(whole(A), task("a")),
    ]).toEqual([...[5_000, 0, 5_000, 5_000]]);
    expect([
      pace.pausedMs(whole(B)),
      pace.starts(B),
      pace.submit(whole(B)),
      pace.poll(whole(B), task("b")),
    ]).toEqual([...[0, undefined, 0, 0]]);
    clock.at += 5_000;
    expect([pace.pausedMs(whole(A)), pace.starts(A), pace.submit(whole(A))]).toEqual([0, undefined, 0]);
  });

  test("pauses for as long as the longest answer says, within bounds", () => {
    const { pace } = setup();
    pace.slow(whole(A), 5_000);
    pace.slow(whole(A), 1_000);
    expect(pace.startsInMs(A)).toBe(5_000);
    pace.slow(whole(A), 10 * LONGEST_DELAY_MS);
    expect(pace.startsInMs(A)).toBe(LONGEST_DELAY_MS);
  });
});
