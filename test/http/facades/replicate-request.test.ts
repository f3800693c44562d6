import { describe, expect, test } from "bun:test";
import { waitIn } from "../../../src/http/facades/replicate/read-request.ts";

const waitOf = (prefer: string) => waitIn(new Request("http://svc.test", { headers: { Prefer: prefer } }));

describe("how long a create waits", () => {
  test.each([
    ["wait", 60],
    ["wait=1", 1],
    ["wait=20", 20],
    ["wait=60", 60],
    ['wait="20"', 20],
    ["Wait=20", 20],
    ["respond-async, wait=20", 20],
    ["wait=20; foo", 20],
  ])("is what %p says, at most a minute", (prefer, seconds) => {
    expect(waitOf(prefer)).toBe(seconds * 1000);
  });

  test.each([
    ["wait=0", 1],
    ["wait=61", 60],
    ["wait=100000", 60],
    ["wait=9999999999999999999999", 60],
  ])("has limits, which %p is beyond", (prefer, seconds) => {
    expect(waitOf(prefer)).toBe(seconds * 1000);
  });

  test.each(["", "respond-async", "wait=", "wait=-1", "wait=1.5", "wait=long", "nowait=5", "waiting"])(
    "is not at all where %p cannot be read as a wait",
    (prefer) => {
      expect(waitOf(prefer)).toBeUndefined();
    },
  );

  test("is not at all without a preference", () => {
    expect(waitIn(new Request("http://svc.test"))).toBeUndefined();
  });
});
