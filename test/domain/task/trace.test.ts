import { expect, test } from "bun:test";
import type { Attempt, Task } from "../../../src/domain/task/task.ts";
import { phasesOf } from "../../../src/domain/task/trace.ts";
import { attemptId, LANE, NOW, newTask, taskId } from "../../helpers/store.ts";

const task = { ...newTask({ createdAt: NOW }) } as Task;

function attempt(fields: Partial<Attempt>): Attempt {
  const own = {
    id: attemptId(fields.sequence ?? 1),
    taskId: taskId(1),
    sequence: 1,
    provider: LANE,
    lane: LANE,
  };
  return { ...own, upstreamModel: "m", state: "done", startedAt: NOW + 5, ...fields };
}

const of = (attempts: readonly Attempt[], now = NOW + 1_000) =>
  attempts.map((each) => phasesOf({ task, attempts }, each, now));

test("an attempt that its upstream took waited, was sent, asked for, fetched and stored", () => {
  const trace = { connectMs: 1, uploadMs: 2, submitMs: 3, polls: 4, fetchMs: 5, storeMs: 6 };
  const times = { acceptedAt: NOW + 11, madeAt: NOW + 50, endedAt: NOW + 61 };
  expect(of([attempt({ ...times, trace })])).toEqual([
    {
      queue: { durationMs: 5 },
      connect: { durationMs: 1 },
      upload: { durationMs: 2 },
      submit: { durationMs: 3 },
      polls: { durationMs: 39, count: 4 },
      fetch: { durationMs: 5 },
      store: { durationMs: 6 },
    },
  ]);
});

test("outputs that come with the answer to a poll are not stored and polled for at once", () => {
  const trace = { polls: 2, storeMs: 10 };
  const [phases] = of([attempt({ acceptedAt: NOW + 10, endedAt: NOW + 100, trace })]);
  expect(phases).toMatchObject({ polls: { durationMs: 80, count: 2 }, store: { durationMs: 10 } });
});

test("a later attempt was queued since the end of the one before, and one under way is polled until now", () => {
  const first = attempt({ state: "rejected", endedAt: NOW + 20 });
  const second = attempt({ sequence: 2, state: "accepted", startedAt: NOW + 50, acceptedAt: NOW + 60 });
  expect(of([first, second])[1]).toEqual({ queue: { durationMs: 30 }, polls: { durationMs: 940 } });
});

test("polls that failed are told: those in a row of one under way, and those of the trace", () => {
  const failing = { ...task, stage: "running", failures: 3 } as Task;
  const told = (of: Task, fields: Partial<Attempt>) => {
    const one = attempt({ acceptedAt: NOW + 10, ...fields });
    return phasesOf({ task: of, attempts: [one] }, one, NOW + 1_000).polls?.failed;
  };
  expect(told(failing, {})).toBe(3);
  expect(told(failing, { trace: { polls: 9, failedPolls: 5 } })).toBe(5);
  expect(told(failing, { endedAt: NOW + 20, trace: { polls: 2, failedPolls: 1 } })).toBe(1);
  expect(told({ ...failing, stage: "finalizing" }, { trace: { polls: 1 } })).toBeUndefined();
});

test("what was not measured is absent, and a clock that was set back makes nothing negative", () => {
  const old = attempt({ startedAt: NOW - 5, acceptedAt: NOW + 10, endedAt: NOW + 100 });
  expect(of([old])).toEqual([{ queue: { durationMs: 0 } }]);
});
