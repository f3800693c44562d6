import { expect, test } from "bun:test";
import type { GroupMember } from "../../../src/domain/task/group.ts";
import { groupStatus, winnerOf } from "../../../src/domain/task/group.ts";
import type { Task, TaskStatus } from "../../../src/domain/task/task.ts";
import { micros, newTask, taskId } from "../../helpers/store.ts";

const START = 1_000;

function member(number: number, status: TaskStatus, given: Partial<Task> = {}): GroupMember {
  const made = { ...newTask({ number }), status, progress: 0, cancelRequested: false, results: [] };
  return { id: taskId(number), task: { ...made, createdAt: 0, startedAt: START, ...given } };
}
const completed = (number: number, chargedMicros: number, completedAt: number, given: Partial<Task> = {}) =>
  member(number, "completed", { charged: micros(chargedMicros), completedAt, ...given });

/** The earliest to complete is not the cheapest, the cheapest is not the fastest, and none of them is the first. */
const ENDED = [
  completed(1, 30, START + 500),
  completed(2, 10, START + 600),
  completed(3, 20, START + 400),
  completed(4, 40, START + 900, { startedAt: START + 800 }),
  member(5, "failed", { completedAt: START + 1 }),
];

test("the cheapest of those that completed wins, not the earliest", () => {
  expect(winnerOf("cheapest", ENDED)).toBe(taskId(2));
});

test("the one that took the shortest from its own start wins by fastest, not the earliest", () => {
  expect(winnerOf("fastest", ENDED)).toBe(taskId(4));
});

test("the earliest to complete wins by first, and nobody by all", () => {
  expect([winnerOf("first", ENDED), winnerOf("all", ENDED)]).toEqual([taskId(3), undefined]);
});

test("of equal ones the earlier in the group wins", () => {
  const equal = [completed(1, 20, START + 20), completed(2, 10, START + 10), completed(3, 10, START + 10)];
  for (const policy of ["first", "cheapest", "fastest"] as const)
    expect([policy, winnerOf(policy, equal)]).toEqual([policy, taskId(2)]);
});

test("cheapest and fastest know no winner until all have ended, and first does", () => {
  const live = [...ENDED, member(6, "processing")];
  expect([winnerOf("cheapest", live), winnerOf("fastest", live)]).toEqual([undefined, undefined]);
  expect([winnerOf("first", live), groupStatus(live)]).toEqual([taskId(3), "processing"]);
});

test("a group is what its best task became, whatever was deleted", () => {
  const gone = { id: taskId(9), task: undefined };
  const cancelled = member(2, "cancelled");
  expect(groupStatus([gone, member(1, "failed"), cancelled])).toBe("failed");
  expect(groupStatus([gone, cancelled])).toBe("cancelled");
  expect(groupStatus([cancelled, completed(1, 1, 1), member(3, "failed")])).toBe("completed");
  expect(winnerOf("cheapest", [gone, cancelled])).toBeUndefined();
});
