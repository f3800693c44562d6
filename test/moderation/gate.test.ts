import { expect, test } from "bun:test";
import { MAX_GROUP_TASKS } from "../../src/domain/task/group-terms.ts";
import { createGate } from "../../src/moderation/gate.ts";

const NEVER = new AbortController().signal;
const A = "acc_a";

test("a place that is given back goes to whoever waits longest", async () => {
  const gate = createGate(1);
  const leave = await gate.enter(A, NEVER);
  const order: string[] = [];
  const first = gate.enter(A, NEVER).then((next) => {
    order.push("first");
    next?.();
  });
  const second = gate.enter(A, NEVER).then(() => order.push("second"));
  leave?.();
  await Promise.all([first, second]);
  expect(order).toEqual(["first", "second"]);
});

test("when many wait, nobody else does", async () => {
  const gate = createGate(2);
  for (let i = 0; i < 2; i++) await gate.enter(A, NEVER);
  for (let i = 0; i < 48; i++) void gate.enter(`acc_${i}`, NEVER);
  expect(await gate.enter(A, NEVER)).toBeUndefined();
});

test("however many of one owner wait, another one's is next but one", async () => {
  const gate = createGate(2);
  const leaves = [await gate.enter(A, NEVER), await gate.enter(A, NEVER)];
  const order: string[] = [];
  const enter = async (owner: string) => {
    const leave = await gate.enter(owner, NEVER);
    order.push(leave === undefined ? `${owner} not` : owner);
    leave?.();
  };
  const all = Array.from({ length: 50 }, () => enter(A));
  all.push(enter("acc_b"));
  for (const leave of leaves) leave?.();
  await Promise.all(all);
  expect(order.filter((each) => each === `${A} not`)).toHaveLength(14);
  expect(order.filter((each) => !each.endsWith("not")).slice(0, 3)).toEqual([A, "acc_b", A]);
});

test("who gives up waiting leaves the place in line to others", async () => {
  const gate = createGate(1);
  const leave = await gate.enter(A, NEVER);
  const controller = new AbortController();
  const givenUp = gate.enter(A, controller.signal).catch((reason: Error) => reason.message);
  const next = gate.enter(A, NEVER);
  controller.abort(new Error("gone"));
  expect(await givenUp).toBe("gone");
  leave?.();
  expect(await next).toBeFunction();
});

test("a place is given back once, however often that is said", async () => {
  const gate = createGate(1);
  const leave = await gate.enter(A, NEVER);
  leave?.();
  leave?.();
  await gate.enter(A, NEVER);
  let isIn = false;
  void gate.enter(A, NEVER).then(() => {
    isIn = true;
  });
  await Promise.resolve();
  expect(isIn).toBe(false);
});

test("all tasks of a group wait for one place", async () => {
  const gate = createGate(1);
  let count = 0;
  const enter = async () => {
    const leave = await gate.enter(A, NEVER);
    if (leave !== undefined) count += 1;
    leave?.();
  };
  await Promise.all(Array.from({ length: MAX_GROUP_TASKS }, enter));
  expect(count).toBe(MAX_GROUP_TASKS);
});
