import { expect, test } from "bun:test";
import { madeAtUse } from "../../src/toolkit/made-at-use.ts";

test("each member is made once, when it is first read, and may use the others", () => {
  const made: string[] = [];
  const make = <T>(name: string, value: T) => {
    made.push(name);
    return value;
  };
  const members: { one: number; two: number; three: number } = madeAtUse({
    one: () => make("one", 1),
    two: () => make("two", members.one + 1),
    three: () => make("three", 3),
  });
  expect(Object.keys(members)).toEqual(["one", "two", "three"]);
  expect(made).toEqual([]);
  expect([members.two, members.one, members.two]).toEqual([2, 1, 2]);
  expect(made).toEqual(["one", "two"]);
  expect({ ...members }).toEqual({ one: 1, two: 2, three: 3 });
});

test("what could not be made is tried again", () => {
  let isBroken = true;
  const members = madeAtUse({
    it: () => {
      if (isBroken) throw new Error("not now");
      return 1;
    },
  });
  expect(() => members.it).toThrow("not now");
  isBroken = false;
  expect(members.it).toBe(1);
});
