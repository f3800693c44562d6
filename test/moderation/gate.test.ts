import { expect, test } from "bun:test";
import { createGate } from "../../src/moderation/gate.ts";

const NEVER = new AbortController().signal;

test("a place that is given back goes to whoever waits longest", async () => {
  const gate = createGate(1);
  const leave = await gate.enter(NEVER);
  const order: string[] = [];
  const first = gate.enter(NEVER).then((next) => {
    order.push("first");
    next?.();
  });
  const second = gate.enter(NEVER).then(() => order.push("second"));
  leave?.();
  await Promise.all([first, second]);
  expect(order).toEqual(["first", "second"]);
});

test("when many wait, nobody else does", async () => {
  const gate = createGate(2);
  for (let i = 0; i < 2; i++) await gate.enter(NEVER);
  const waiting = Array.from({ length: 32 }, () => gate.enter(NEVER));
  expect(await gate.enter(NEVER)).toBeUndefined();
  expect(waiting).toHaveLength(32);
});

test("who gives up waiting leaves the place in line to others", async () => {
  const gate = createGate(1);
  const leave = await gate.enter(NEVER);
  const controller = new AbortController();
  const givenUp = gate.enter(controller.signal).catch((reason: Error) => reason.message);
  const next = gate.enter(NEVER);
  controller.abort(new Error("gone"));
  expect(await givenUp).toBe("gone");
  leave?.();
  expect(await next).toBeFunction();
});

test("a place is given back once, however often that is said", async () => {
  const gate = createGate(1);
  const leave = await gate.enter(NEVER);
  leave?.();
  leave?.();
  await gate.enter(NEVER);
  let isIn = false;
  void gate.enter(NEVER).then(() => {
    isIn = true;
  });
  await Promise.resolve();
  expect(isIn).toBe(false);
});
