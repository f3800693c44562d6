import { expect, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import type { TaskStory } from "../../src/domain/task/story.ts";
import type { CreateTaskRequest } from "../../src/service/create-task.ts";
import { retryTask } from "../../src/service/retry-task.ts";
import { ACCOUNT, keyId, micros, newTask, taskId } from "../helpers/store.ts";

const PRINCIPAL: Principal = {
  ...{ accountId: ACCOUNT, keyId: keyId(1), keyName: "web", policy: {}, priceMultiplier: 1_000_000 },
};

/** What the create is asked for by the retry of a task that was passed on `before` times, sent `now` times. */
async function createdBy(before: number | undefined, now: number | undefined): Promise<CreateTaskRequest> {
  const { request, ...rest } = newTask();
  const story = {
    task: { ...rest, request: { ...request, hops: before }, status: "failed" },
    inputs: [],
  } as unknown as TaskStory;
  const asked: CreateTaskRequest[] = [];
  await retryTask(
    {
      tasks: { story: async () => story, summary: async () => undefined },
      // A model that is gone: the create says so.
      catalog: { find: () => undefined },
      createTask: async (create) => {
        asked.push(create);
        return { taskId: taskId(2), held: micros(1), replayed: false };
      },
    },
    { id: taskId(1), principal: PRINCIPAL, requestId: "req_2", origin: "http://a", hops: now },
  );
  return asked[0]!;
}

test("a retry was passed on as often as its task, or as itself where that is more", async () => {
  expect((await createdBy(3, undefined)).hops).toBe(3);
  expect((await createdBy(3, 2)).hops).toBe(3);
  expect((await createdBy(1, 2)).hops).toBe(2);
  expect((await createdBy(undefined, undefined)).hops).toBeUndefined();
});

test("the create is asked for what was stored, under the path of the retry", async () => {
  expect(await createdBy(undefined, undefined)).toMatchObject({
    kind: "image",
    endpoint: `POST /v1/tasks/${taskId(1)}/retry`,
    identity: { retry_of: taskId(1) },
    body: { model: "sandbox-image", prompt: "a lighthouse at dusk", size: "1024x1024", seed: 0 },
  });
});
