import { describe, expect, test } from "bun:test";
import { taskError } from "../../../src/domain/errors.ts";
import { timelineOf, verdictOf } from "../../../src/domain/task/story.ts";
import type { Attempt, Task } from "../../../src/domain/task/task.ts";
import { attemptId, LANE, NOW, newTask, taskId } from "../../helpers/store.ts";

const taskOf = (fields: Partial<Task> = {}): Task => ({
  ...newTask(),
  ...{ status: "processing", stage: "running", progress: 0, attempts: 1, failures: 0 },
  ...{ cancelRequested: false, results: [] },
  ...fields,
});

const attemptOf = (fields: Partial<Attempt> = {}): Attempt => ({
  ...{ id: attemptId(1), taskId: taskId(1), sequence: 1, provider: LANE, lane: LANE, upstreamModel: "m" },
  ...{ state: "accepted", startedAt: NOW + 10 },
  ...fields,
});

const stages = (task: Task, attempts: readonly Attempt[], now: number) =>
  timelineOf({ task, attempts }, now).map(
    ({ stage, at, durationMs }) => `${stage} ${at - NOW} ${durationMs ?? "-"}`,
  );

describe("a timeline", () => {
  test("of a task that nobody has taken is the queue so far", () => {
    expect(stages(taskOf({ attempts: 0 }), [], NOW + 700)).toEqual(["queued 0 700"]);
  });

  test("goes through every stage to the end", () => {
    const task = taskOf({ status: "completed", completedAt: NOW + 900 });
    const attempt = attemptOf({ state: "done", acceptedAt: NOW + 30, madeAt: NOW + 800, endedAt: NOW + 900 });
    expect(stages(task, [attempt], NOW + 5_000)).toEqual([
      "queued 0 10",
      "submitting 10 20",
      "running 30 770",
      "finalizing 800 100",
      "ended 900 -",
    ]);
  });

  test("leaves out what a provider that answers at once never does", () => {
    const task = taskOf({ status: "completed", completedAt: NOW + 900 });
    const attempt = attemptOf({ state: "done", endedAt: NOW + 900 });
    expect(stages(task, [attempt], NOW + 5_000)).toEqual(["queued 0 10", "submitting 10 890", "ended 900 -"]);
  });

  test("goes back to the queue after an attempt that was refused, but not from the one it ended with", () => {
    const refused = attemptOf({ state: "rejected", endedAt: NOW + 20 });
    const second = attemptOf({ sequence: 2, state: "rejected", startedAt: NOW + 50, endedAt: NOW + 60 });
    expect(stages(taskOf(), [refused], NOW + 25)).toEqual(["queued 0 10", "submitting 10 10", "queued 20 5"]);
    const failed = taskOf({ status: "failed", completedAt: NOW + 60, attempts: 2 });
    expect(stages(failed, [refused, second], NOW + 99)).toEqual([
      "queued 0 10",
      "submitting 10 10",
      "queued 20 30",
      "submitting 50 10",
      "ended 60 -",
    ]);
  });

  test("goes back to the queue after an attempt that failed, but not from the one it ended with", () => {
    const failed = attemptOf({ state: "done", acceptedAt: NOW + 15, endedAt: NOW + 20 });
    const second = attemptOf({ sequence: 2, state: "done", startedAt: NOW + 50, endedAt: NOW + 60 });
    const task = taskOf({ status: "completed", completedAt: NOW + 60, attempts: 2 });
    expect(stages(task, [failed, second], NOW + 99)).toEqual([
      "queued 0 10",
      "submitting 10 5",
      "running 15 5",
      "queued 20 30",
      "submitting 50 10",
      "ended 60 -",
    ]);
  });

  test("has no negative duration, wherever the clock was set", () => {
    expect(stages(taskOf(), [attemptOf({ startedAt: NOW - 500 })], NOW - 900)).toEqual([
      "queued 0 0",
      "submitting -500 0",
    ]);
  });
});

describe("the verdict on an attempt", () => {
  const error = taskError("UPSTREAM_ERROR");
  const failed = taskOf({ status: "failed", error, completedAt: NOW + 60, attempts: 2 });

  test("is the error of the task for the one that it ended with", () => {
    const last = attemptOf({ sequence: 2, state: "done", endedAt: NOW + 60 });
    expect(verdictOf(failed, last)).toEqual({
      outcome: "failed",
      errorCode: "UPSTREAM_ERROR",
      message: error.message,
    });
  });

  test("never holds what was noted for the operator", () => {
    const detail = "HTTP 500 from https://upstream.example: secret";
    for (const state of ["rejected", "ambiguous", "accepted", "done"] as const) {
      const verdict = verdictOf(taskOf(), attemptOf({ state, detail, endedAt: NOW + 20 }));
      expect(JSON.stringify(verdict)).not.toContain("upstream.example");
    }
  });

  test("on an earlier one, or of a task that failed later in the queue, is that it was refused", () => {
    const refused = { outcome: "refused", message: "The provider did not take this attempt." } as const;
    const early = attemptOf({ state: "rejected", endedAt: NOW + 20 });
    expect(verdictOf(failed, early)).toEqual(refused);
    expect(verdictOf(failed, { ...early, sequence: 2 })).toEqual(refused);
  });

  test("on one that failed while the task went on is that it failed, however the task ends", () => {
    const earlier = { outcome: "failed", message: "The provider took this attempt and failed." } as const;
    const first = attemptOf({ state: "done", endedAt: NOW + 20 });
    const completed = taskOf({ status: "completed", completedAt: NOW + 60, attempts: 2 });
    for (const task of [taskOf(), failed, completed]) expect(verdictOf(task, first)).toEqual(earlier);
    expect(verdictOf(completed, attemptOf({ sequence: 2, state: "done", endedAt: NOW + 60 })).outcome).toBe(
      "completed",
    );
  });

  test("is under way until the task has ended", () => {
    expect(verdictOf(taskOf(), attemptOf()).outcome).toBe("under_way");
    expect(verdictOf(taskOf({ status: "cancelled" }), attemptOf()).outcome).toBe("cancelled");
  });
});
