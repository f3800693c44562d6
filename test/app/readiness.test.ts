import { expect, test } from "bun:test";
import { createReadiness } from "../../src/app/readiness.ts";

const states = (takesForOthers: boolean) => {
  const readiness = createReadiness(
    { trouble: () => undefined },
    { state: () => "enough" },
    { takesForOthers },
  );
  const look = () => [readiness.isAccepting(), readiness.notReady()];
  const starting = look();
  readiness.begin();
  const serving = look();
  readiness.end();
  return [starting, serving, look()];
};

test("a node that works takes nothing more from the moment it stops", () => {
  expect(states(false)).toEqual([
    [false, "starting"],
    [true, undefined],
    [false, "stopping"],
  ]);
});

test("a node that takes in for others does so to its end, and says that it stops all the same", () => {
  expect(states(true)).toEqual([
    [false, "starting"],
    [true, undefined],
    [true, "stopping"],
  ]);
});
