import { expect, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import type { TaskStory } from "../../src/domain/task/story.ts";
import type { CreateTaskRequest } from "../../src/service/create-task.ts";
import { varyTask } from "../../src/service/vary-task.ts";
import { rejection } from "../contracts/provider.ts";
import { ACCOUNT, keyId, micros, newTask, taskId } from "../helpers/store.ts";

const PRINCIPAL: Principal = {
  ...{ accountId: ACCOUNT, keyId: keyId(1), keyName: "web", policy: {}, priceMultiplier: 1_000_000 },
};

/** Three variations, of which the store can keep so many. */
function vary(kept: number, asked: CreateTaskRequest[] = []) {
  const { request, ...rest } = newTask();
  const task = { ...rest, request: { ...request, resultType: "image/webp" }, status: "completed" };
  const story = { task, inputs: [] } as unknown as TaskStory;
  let created = 0;
  return varyTask(
    {
      tasks: { story: async () => story, summary: async () => undefined },
      catalog: { find: () => undefined },
      random: () => 0.5,
      async createTask(create) {
        asked.push(create);
        if (created === kept) throw new StorageError("full", "The disk is full.");
        return { taskId: taskId(++created), held: micros(5), replayed: false };
      },
    },
    { id: taskId(9), count: 3, principal: PRINCIPAL, requestId: "req_1", origin: "http://a" },
  );
}

test("variations that were accepted are told of when the store cannot keep the others", async () => {
  const { created, held, refused } = await vary(2);
  expect([created.map((each) => each.taskId), held]).toEqual([[taskId(1), taskId(2)], micros(10)]);
  expect(refused?.code).toBe("service_unavailable");
  expect(await rejection(vary(0))).toBeInstanceOf(StorageError);
});

test("variations are stored in the format in which their task was", async () => {
  const asked: CreateTaskRequest[] = [];
  await vary(3, asked);
  expect(asked.map(({ resultType }) => resultType)).toEqual(["image/webp", "image/webp", "image/webp"]);
});
