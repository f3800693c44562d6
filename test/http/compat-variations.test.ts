import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { png } from "../helpers/media.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

setDefaultTimeout(60_000);

let service: PublishedService;
let onlyVideos: string;

beforeAll(async () => {
  service = await startPublished({ FAL_KEY: "not-asked" });
  const answer = await fetch(`${service.url}/admin/v1/keys`, {
    ...{ method: "POST", body: JSON.stringify({ name: "videos", models: ["sandbox-video"] }) },
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
  });
  onlyVideos = ((await answer.json()) as { data: { key: string } }).data.key;
});

afterAll(() => service.stop());

interface Sent {
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly images?: number;
}

async function vary(fields: Record<string, string>, { key = service.key, headers, images = 1 }: Sent = {}) {
  const body = new FormData();
  const picture = new Blob([await png(32, 32)], { type: "image/png" });
  for (let i = 0; i < images; i++) body.append("image", picture, "a.png");
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const response = await fetch(`${service.url}/compat/v1/images/variations`, {
    ...{ method: "POST", body, headers: { Authorization: `Bearer ${key}`, ...headers } },
  });
  const answer = (await response.json()) as { error?: JsonObject; data?: JsonObject[] };
  return { status: response.status, headers: response.headers, error: answer.error, data: answer.data ?? [] };
}

const SANDBOX = { model: "sandbox-image", sandbox: '{"delay_ms":0}', size: "32x32" };

test("what cannot be varied is refused in words of its own that name the field", async () => {
  const all = await fetch(`${service.url}/v1/models`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  const { models } = (
    (await all.json()) as { data: { models: { id: string; kind: string; modes: string[] }[] } }
  ).data;
  const blind = models.find(({ kind, modes }) => kind === "image" && modes.join() === "text-to-image");
  const cases = [
    [await vary({ model: blind?.id ?? "" }), 400, "model", `${blind?.id} takes no image`],
    [await vary({}, { key: onlyVideos }), 400, "model", "no model that can be used here takes an image"],
    [await vary({ model: "sandbox-video" }), 404, "model", "sandbox-video"],
    [await vary({ model: "no-such-model" }), 404, "model", "no-such-model"],
    [await vary(SANDBOX, { images: 2 }), 400, "image", "image"],
    [await vary(SANDBOX, { images: 0 }), 400, "image", "image"],
    [await vary({ ...SANDBOX, n: "0" }), 400, "n", "n"],
    [await vary({ ...SANDBOX, size: "large" }), 400, "size", "size"],
    [await vary({ ...SANDBOX, response_format: "png" }), 400, "response_format", "response_format"],
  ] as const;
  for (const [{ status, error }, wanted, param, words] of cases) {
    expect([words, status, error?.param]).toEqual([words, wanted, param]);
    expect(String(error?.message)).toContain(words);
  }
  const json = await fetch(`${service.url}/compat/v1/images/variations`, {
    ...{
      method: "POST",
      body: "{}",
      headers: { Authorization: `Bearer ${service.key}`, "Content-Type": "application/json" },
    },
  });
  expect(json.status).toBe(415);
});

test("the same variation with its key is one task, and its prompt is ours whatever else was given", async () => {
  const sent = { headers: { "Idempotency-Key": "v-1" } };
  const first = await vary({ ...SANDBOX, prompt: "mine", stream: "true" }, sent);
  const again = await vary({ ...SANDBOX, prompt: "mine", stream: "true" }, sent);
  expect([first.status, again.status, again.headers.get("x-idempotent-replay")]).toEqual([200, 200, "true"]);
  expect([first.data.length, again.headers.get("x-task-id")]).toEqual([1, first.headers.get("x-task-id")]);
  const task = await fetch(`${service.url}/v1/tasks/${first.headers.get("x-task-id")}`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  expect(await task.text()).toContain("Another version of this image");
});

test("no file of a form is decoded for a request that cannot be paid", async () => {
  const made = await fetch(`${service.url}/admin/v1/keys`, {
    ...{
      method: "POST",
      body: JSON.stringify({ name: "poor", quota: { limit: "0.000001", reset: "total" } }),
    },
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
  });
  const { key } = ((await made.json()) as { data: { key: string } }).data;
  const body = new FormData();
  // It is cut short, which only decoding shows.
  body.append("image", new Blob([(await png(32, 32)).slice(0, -20)]), "a.png");
  for (const [name, value] of Object.entries(SANDBOX)) body.append(name, value);
  const answers = [key, service.key].map(async (each) => {
    const headers = { Authorization: `Bearer ${each}` };
    const answer = await fetch(`${service.url}/compat/v1/images/variations`, {
      method: "POST",
      body,
      headers,
    });
    return ((await answer.json()) as { error: JsonObject }).error.code;
  });
  expect(await Promise.all(answers)).toEqual(["insufficient_quota", "invalid_request"]);
});
