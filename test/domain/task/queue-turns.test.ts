import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { setupsBefore, turnsBefore } from "../../../src/domain/task/queue-turns.ts";

/** Serves accounts in turns, one task each, until the task of an account with `own` older ones has its turn. */
function served(waiting: ReadonlyMap<number, number>, account: number, own: number, last: number): number {
  const left = new Map(waiting);
  const accounts = [...left.keys()].sort((a, b) => a - b);
  let [before, turns] = [0, own + 1];
  for (let at = last; ; ) {
    const next = accounts.find((each) => each > at && left.get(each)! > 0);
    const taken = next ?? accounts.find((each) => left.get(each)! > 0)!;
    left.set(taken, left.get(taken)! - 1);
    if (taken === account && --turns === 0) return before;
    before += 1;
    at = taken;
  }
}

describe("turns before a task", () => {
  test("are as many as an account has in rounds that begin after the one served last", () => {
    const queues = fc.record({
      others: fc.array(fc.nat({ max: 4 }), { minLength: 5, maxLength: 5 }),
      account: fc.integer({ min: 1, max: 5 }),
      own: fc.nat({ max: 4 }),
      last: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    });
    const countsTurns = ({
      others,
      account,
      own,
      last,
    }: typeof queues extends fc.Arbitrary<infer T> ? T : never) => {
      const waiting = new Map(others.map((count, i) => [i + 1, i + 1 === account ? own + 1 : count]));
      const before = turnsBefore(account, last, own).flatMap(({ after, before, each }) =>
        [...waiting].flatMap(([other, count]) =>
          other > after && other < before && other !== account ? [Math.min(count, each)] : [],
        ),
      );
      const counted = own + before.reduce((sum, count) => sum + count, 0);
      expect(counted).toBe(served(waiting, account, own, last ?? 0));
    };
    fc.assert(fc.property(queues, countsTurns));
  });

  test("leave out accounts that have none", () => {
    expect(turnsBefore(3, 3, 0)).toEqual([
      { after: 3, before: Number.MAX_SAFE_INTEGER, each: 1 },
      { after: 0, before: 3, each: 1 },
    ]);
    expect(turnsBefore(1, undefined, 0)).toEqual([{ after: 0, before: 1, each: 1 }]);
  });
});

test("the setups before one are those from the lane's row on, around the end if need be", () => {
  expect(setupsBefore("b", undefined)).toEqual([["", "b"]]);
  expect(setupsBefore("b", "a")).toEqual([["a", "b"]]);
  expect(setupsBefore("b", "c")).toEqual([
    ["c", "\u{10FFFF}"],
    ["", "b"],
  ]);
});
