import { afterEach, expect, test } from "bun:test";
import { createClient } from "../../../cli/client/client.ts";
import { systemTiming } from "../../../cli/client/retry.ts";
import { stagesOf } from "../../../cli/client/story.ts";
import { type Script, type ScriptedServer, startScriptedServer, success } from "../scripted-server.ts";

let server: ScriptedServer | undefined;
afterEach(() => server?.[Symbol.dispose]());

function clientOf(script: Script) {
  server = startScriptedServer(script);
  const settings = { server: server.url, key: "k" };
  const { signal } = new AbortController();
  return createClient(settings, { timing: systemTiming, signal, userAgent: "svc/test", onRetry() {} });
}

const TASK = { task_id: "task_1", status: "failed" };

test("a story is read as far as it is there, and stages as times", async () => {
  const timeline = [
    { stage: "queued", at: "1970-01-01T00:00:01.500Z", duration_ms: 20 },
    { stage: "ended", at: "1970-01-01T00:00:01.520Z" },
    { stage: "lost", at: "some day" },
    "nothing",
  ];
  const client = clientOf({
    "GET /v1/tasks/task_1": () => success({ ...TASK, timeline, attempts: [{ number: 1 }, 7] }),
  });
  const story = await client.story("task_1");
  expect(story).toMatchObject({ ...TASK, request: {}, attempts: [{ number: 1 }], callbacks: [], charge: [] });
  expect(stagesOf(story)).toEqual([
    { stage: "queued", at: 1_500, durationMs: 20 },
    { stage: "ended", at: 1_520, durationMs: undefined },
  ]);
});

test("a retry sends its key, and is answered as a create", async () => {
  const client = clientOf({
    "POST /v1/tasks/task_1/retry": () =>
      success({ task_id: "task_2", retry_of: "task_1" }, { "X-Request-Cost": "0.010000" }),
  });
  expect(await client.retry("task_1", "again")).toEqual({
    ...{ taskId: "task_2", requestId: "req_1", cost: "0.010000", replayed: false },
  });
  expect(server?.seen[0]?.headers.get("idempotency-key")).toBe("again");
});

test("tasks of all accounts are asked for below the management API", async () => {
  const client = clientOf({
    "GET /admin/v1/tasks": () => success({ tasks: [TASK], next: null }),
    "GET /admin/v1/tasks/task_1": () => success(TASK),
    "POST /admin/v1/tasks/task_1/cancel": () => success(TASK),
  });
  expect(await client.managedTasks({ account: "a b", status: "failed" })).toMatchObject({
    tasks: [TASK],
    next: null,
  });
  expect(server?.seen[0]?.path).toBe("/admin/v1/tasks?account=a+b&status=failed");
  expect((await client.managedStory("task_1")).task_id).toBe("task_1");
  expect((await client.managedCancel("task_1")).status).toBe("failed");
});
