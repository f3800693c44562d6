import { expect, test } from "bun:test";
import type { Callback, CallbackAttempt } from "../../src/domain/callback/callback.ts";
import type { CallbackStore } from "../../src/domain/ports/callback-store.ts";
import type { TaskStore } from "../../src/domain/ports/task-store.ts";
import type { Task } from "../../src/domain/task/task.ts";
import { callbackEndpoints } from "../../src/http/callbacks/routes.ts";
import type { KeyedExchange } from "../../src/http/exchange.ts";
import { createCallbackFeed } from "../../src/runtime/signals.ts";
import { ACCOUNT, callbackId, keyId, NOW, newTask, taskId } from "../helpers/store.ts";

const CALLBACK: Callback = {
  ...{ id: callbackId(1), taskId: taskId(1), requestId: "req_1", accountId: ACCOUNT, keyId: keyId(1) },
  ...{ url: "https://hooks.example.com/?token=7", host: "hooks.example.com", state: "pending", attempts: 2 },
  ...{ dueAt: NOW + 5_000, isRedeliveryDue: false, createdAt: NOW, event: "failed" },
};
const TASK = {
  ...{
    ...newTask(),
    status: "failed",
    stage: "terminal",
    progress: 0,
    attempts: 1,
    failures: 0,
    results: [],
  },
  ...{ cancelRequested: false, completedAt: NOW, error: { code: "UPSTREAM_ERROR", message: "No." } },
} satisfies Task;

/** What the endpoint of one callback answers, of a store that holds this one. */
async function answerOf(callback: Callback, history: readonly CallbackAttempt[], maxAttempts = 5) {
  const callbacks: Pick<CallbackStore, "byId" | "attempts"> = {
    byId: async () => callback,
    attempts: async () => [...history],
  };
  const tasks: Pick<TaskStore, "byId"> = { byId: async () => TASK };
  const endpoints = callbackEndpoints({
    // Nothing else of them is asked for.
    callbacks: callbacks as CallbackStore,
    tasks: tasks as TaskStore,
    redeliveries: createCallbackFeed(),
    callbacksDue() {},
    forms: () => undefined,
    maxAttempts: () => maxAttempts,
  });
  const endpoint = endpoints.find(({ path, method }) => method === "GET" && path.endsWith("/:callback_id"));
  if (endpoint?.access !== "api_key") throw new Error("There is no such endpoint.");
  const exchange = { principal: { accountId: ACCOUNT }, param: () => callback.id };
  const { body } = await endpoint.handle(exchange as unknown as KeyedExchange);
  return JSON.parse(String(body)).data;
}

test("a pending callback says when it is tried next, and one that is over does not", async () => {
  expect(await answerOf(CALLBACK, [])).toMatchObject({
    ...{ attempts: 2, max_attempts: 5, redelivery_due: false },
    ...{ next_attempt_at: new Date(NOW + 5_000).toISOString(), created_at: new Date(NOW).toISOString() },
  });
  for (const state of ["delivered", "failed"] as const)
    expect((await answerOf({ ...CALLBACK, state }, [])).next_attempt_at).toBeNull();
});

test("attempts are never more than are allowed, also where fewer are than were", async () => {
  expect(await answerOf({ ...CALLBACK, attempts: 4 }, [], 2)).toMatchObject({ attempts: 4, max_attempts: 4 });
});

test("the payload is the object that is sent", async () => {
  expect((await answerOf(CALLBACK, [])).payload).toEqual({
    ...{
      task_id: TASK.id,
      request_id: "req_1",
      status: "failed",
      error: "No.",
      error_code: "UPSTREAM_ERROR",
    },
    ...{ created_at: new Date(NOW).toISOString(), completed_at: new Date(NOW).toISOString() },
  });
});

test("a send that was forbidden says why, and never which address", async () => {
  const { history } = await answerOf(CALLBACK, [
    {
      ...{ sequence: 1, isRedelivery: false, startedAt: NOW, endedAt: NOW + 3 },
      ...{ outcome: "forbidden", reason: "points to a private address", address: "10.0.0.7" },
    },
  ]);
  expect(history).toMatchObject([
    { outcome: "forbidden", error: "points to a private address", address: null },
  ]);
  expect(JSON.stringify(history)).not.toContain("10.0.0.7");
});

test("a send under way has neither end nor outcome, and no clock makes a time negative", async () => {
  const { history } = await answerOf(CALLBACK, [
    {
      ...{ sequence: 1, isRedelivery: false, startedAt: NOW, endedAt: NOW - 50 },
      ...{ outcome: "unreachable", reason: "ECONNREFUSED", address: "203.0.113.9" },
    },
    { sequence: 2, isRedelivery: true, startedAt: NOW },
  ]);
  expect(history).toEqual([
    {
      ...{
        sequence: 1,
        kind: "attempt",
        outcome: "unreachable",
        error: "ECONNREFUSED",
        address: "203.0.113.9",
      },
      ...{ started_at: new Date(NOW).toISOString(), ended_at: new Date(NOW - 50).toISOString() },
      ...{ duration_ms: 0, status: null, answer: null },
    },
    {
      ...{ sequence: 2, kind: "redelivery", started_at: new Date(NOW).toISOString(), ended_at: null },
      ...{ duration_ms: null, outcome: null, status: null, address: null, answer: null, error: null },
    },
  ]);
});
