import { afterAll, beforeAll, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { png } from "../helpers/media.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32" });
});

afterAll(() => service.stop());

const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function ask(path: string, body?: JsonObject): Promise<{ status: number; data: JsonObject }> {
  const response = await fetch(service.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${service.key}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  return { status: response.status, data };
}

/** Creates a task and waits for its end. @returns its id, and its status answer */
async function ended(body: JsonObject): Promise<{ id: string; status: JsonObject }> {
  const { data } = await ask("/v1/images/generations", body);
  const id = String(data.task_id);
  return { id, status: (await ask(`/v1/images/status/${id}?wait=30`)).data };
}

test("a story is what the list has of the task, and all that is behind it", async () => {
  const { id, status } = await ended({ ...IMAGE, n: 2, callback_url: "http://127.0.0.1:45999/hook?token=7" });
  const { data: story } = await ask(`/v1/tasks/${id}`);
  expect(story).toMatchObject({ ...status, kind: "image" });
  expect(story).toMatchObject({
    key: { name: "default" },
    hold: { amount: "0.020000", currency: "USD" },
    charge: [{ sku: "sandbox-image", quantity: 2, amount: "0.020000" }],
    request: {
      mode: "text-to-image",
      prompt: "A fox",
      n: 2,
      parameters: { size: "16x16", sandbox: { delay_ms: 0 } },
      inputs: [],
      callback_url: "http://127.0.0.1:45999/hook?token=7",
    },
    attempts: [{ number: 1, outcome: "completed" }],
    callbacks: [{ host: "127.0.0.1:45999" }],
  });
  const stages = (story.timeline as { stage: string; at: string }[]).map(({ stage }) => stage);
  expect([stages[0], stages[1], stages.at(-1)]).toEqual(["queued", "submitting", "ended"]);
  for (const { at } of story.timeline as { at: string }[]) expect(at).toMatch(TIME);
  expect(story).not.toHaveProperty("advice");
});

test("a task that failed says what to do", async () => {
  const { id } = await ended({ ...IMAGE, sandbox: { delay_ms: 0, outcome: "moderated" } });
  const { data } = await ask(`/v1/tasks/${id}`);
  expect(data).toMatchObject({
    error_code: "CONTENT_MODERATED",
    advice: "Change the prompt or the inputs, and create a new task.",
    attempts: [{ outcome: "failed", error_code: "CONTENT_MODERATED" }],
  });
  expect(data).not.toHaveProperty("charge");
});

test("inputs are told by what they are, and never by their content", async () => {
  const picture = Buffer.from(await png(8, 6)).toString("base64");
  const image_url = `data:image/png;base64,${picture}`;
  const { id } = await ended({ model: "sandbox-image", prompt: "Blue", image_url, sandbox: { delay_ms: 0 } });
  const { data } = await ask(`/v1/tasks/${id}`);
  const { inputs } = data.request as { inputs: JsonObject[] };
  expect(inputs).toMatchObject([{ field: "image_url", media_type: "image/png", width: 8, height: 6 }]);
  expect(String(inputs[0]?.url)).toStartWith(`${service.url}/assets/asset_`);
  expect(JSON.stringify(data)).not.toContain(picture.slice(0, 40));
});

test("an input that is still to be fetched is told without what lets its holder read it", async () => {
  const held = Promise.withResolvers<Response>();
  const source = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => held.promise });
  const image_url = `http://127.0.0.1:${source.port}/cat.png?signature=abc`;
  const { data: created } = await ask("/v1/images/generations", {
    model: "sandbox-image",
    prompt: "x",
    image_url,
  });
  const { data } = await ask(`/v1/tasks/${created.task_id}`);
  expect((data.request as JsonObject).inputs).toEqual([
    { field: "image_url", url: `http://127.0.0.1:${source.port}/cat.png` },
  ]);
  held.resolve(new Response(null, { status: 404 }));
  await source.stop(true);
});

test("what is not there is not found, and a story is only read", async () => {
  for (const id of ["task_01jd0000000000000000000000", "task_1", "x"])
    expect(await ask(`/v1/tasks/${id}`)).toMatchObject({
      status: 404,
      data: { error_code: "task_not_found" },
    });
  expect((await ask("/v1/tasks/task_01jd0000000000000000000000", {})).status).toBe(405);
});
