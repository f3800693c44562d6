import { expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { Principal } from "../../src/domain/access/account.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { TaskStory } from "../../src/domain/task/story.ts";
import type { CreateTaskRequest } from "../../src/service/create-task.ts";
import { followUpTask } from "../../src/service/follow-up-task.ts";
import { fakeClock } from "../helpers/engine.ts";
import { ACCOUNT, assetId, keyId, micros, newTask, taskId } from "../helpers/store.ts";

const PRINCIPAL: Principal = {
  ...{ accountId: ACCOUNT, keyId: keyId(1), keyName: "web", policy: {}, priceMultiplier: 1_000_000 },
};

/** What the create is asked for when a picture of this model is made larger. Every model has a provider. */
async function upscaled(
  model: string,
  body: JsonObject = {},
  policy: Principal["policy"] = {},
  more: object = {},
) {
  const { request, ...rest } = newTask({ model: model as ModelId });
  const results = [{ assetId: assetId(1), type: "image/png" }];
  const story = { task: { ...rest, request, status: "completed", results, ...more }, inputs: [] };
  const asked: CreateTaskRequest[] = [];
  await followUpTask(
    {
      tasks: { story: async () => story as unknown as TaskStory, summary: async () => undefined },
      ...{ catalog: createCatalog(), aliases: {}, prices: { rule: () => undefined }, clock: fakeClock() },
      createTask: async (create) => {
        if (create.refused !== undefined) throw create.refused;
        asked.push(create);
        return { taskId: taskId(2), held: micros(1), replayed: false };
      },
    },
    {
      ...{ id: taskId(1), followUp: "upscale", body, requestId: "req_2", origin: "http://a" },
      principal: { ...PRINCIPAL, policy },
    },
  );
  return asked[0]?.body;
}

test("what the sandbox made is enlarged by the sandbox, and nothing else is", async () => {
  expect((await upscaled("sandbox-image"))?.model).toBe("sandbox-upscale");
  expect((await upscaled("gpt-image-2"))?.model).toBe("recraft-crisp-upscale");
  const models = ["sandbox-upscale"] as ModelId[];
  await expect(upscaled("gpt-image-2", {}, { models })).rejects.toMatchObject({
    ...{ code: "invalid_request", param: "model", facts: { able: models } },
  });
  const named = await upscaled("gpt-image-2", { model: "sandbox-upscale" }, { models });
  expect(named).toEqual({ model: "sandbox-upscale", image_url: `http://a/assets/${assetId(1)}.png` });
});

test("the cheapest is that for this very request, with the task's prompt where it takes one", async () => {
  const body = await upscaled("gpt-image-2", { creativity: 0.3 });
  expect(body).toEqual({
    model: "stable-image-upscale-conservative",
    prompt: "a lighthouse at dusk",
    creativity: 0.3,
    image_url: `http://a/assets/${assetId(1)}.png`,
  });
});

test("a field that every model refuses is at fault, and not the model that was not named", async () => {
  await expect(upscaled("sandbox-image", { factor: 3 })).rejects.toMatchObject({
    ...{ code: "invalid_request", param: "factor", message: "factor must be one of 2, 4; got 3." },
  });
  await expect(upscaled("sandbox-image", { scale: 2 })).rejects.toMatchObject({
    ...{ code: "invalid_request", param: "scale", facts: { kind: "unknown_field" } },
  });
});

test("a task whose files were removed is refused as such, and not by a field that nobody gave", async () => {
  await expect(upscaled("sandbox-image", {}, {}, { filesRemovedAt: 86_400_000 })).rejects.toMatchObject({
    ...{ code: "invalid_request", param: "task_id" },
    message:
      "task_id names a task whose files were removed on 1970-01-02T00:00:00.000Z, because they were kept long enough.",
  });
});
