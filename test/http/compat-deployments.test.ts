import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { png } from "../helpers/media.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

// It waits for pictures.
setDefaultTimeout(60_000);

let service: PublishedService;

beforeAll(async () => {
  service = await startPublished({ SVC_ALIASES: "my-fox=sandbox-image" });
});

afterAll(() => service.stop());

interface Answer {
  readonly data?: readonly { readonly b64_json?: string; readonly id?: string }[];
  readonly error?: { readonly code: string; readonly param?: string };
}

async function call(path: string, body?: object | FormData, headers: Record<string, string> = {}) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${service.url}/compat/v1${path}?api-version=2025-04-01-preview`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "api-key": service.key,
      ...(isForm || body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer;
  const task = response.headers.get("x-task-id");
  return { ...answer, status: response.status, replayed: response.headers.get("x-idempotent-replay"), task };
}

const modelOf = async (task: string | null) => {
  const headers = { Authorization: `Bearer ${service.key}` };
  const answer = await fetch(`${service.url}/v1/images/status/${task}`, { headers });
  return ((await answer.json()) as { data: { model: string } }).data.model;
};

const FOX = { prompt: "A fox", size: "32x32", sandbox: { delay_ms: 0 } };

test("a deployment of the path is the model, whatever the body says", async () => {
  for (const base of ["/openai/deployments", "/deployments", "/openai//deployments"]) {
    for (const body of [FOX, { ...FOX, model: "dall-e-3" }]) {
      const { status, task, data } = await call(`${base}/my-fox/images/generations`, body);
      expect([base, status, data?.length]).toEqual([base, 200, 1]);
      expect(await modelOf(task)).toBe("sandbox-image");
    }
  }
  const form = new FormData();
  form.append("image", new Blob([await png(32, 32)]), "a.png");
  form.append("prompt", "Winter");
  const edited = await call("/openai/deployments/my%2Dfox/images/edits", form);
  expect([edited.status, await modelOf(edited.task)]).toEqual([200, "sandbox-image"]);
});

test("paths without a deployment are those without openai before them", async () => {
  const made = await call("/openai/v1/images/generations", { ...FOX, model: "my-fox" });
  expect([made.status, made.data?.length]).toEqual([200, 1]);
  const listed = await call("/openai/models");
  expect(listed.data?.map(({ id }) => id)).toContain("my-fox");
});

test("a key used for one deployment is refused for another one", async () => {
  const headers = { "Idempotency-Key": "order-1" };
  const at = (name: string) => call(`/openai/deployments/${name}/images/generations`, FOX, headers);
  const [first, again, other] = [await at("my-fox"), await at("my-fox"), await at("sandbox-image")];
  expect([first.status, again.status, again.task, again.replayed]).toEqual([200, 200, first.task, "true"]);
  expect([other.status, other.error?.code]).toEqual([409, "idempotency_conflict"]);
});

test("what is no deployment, and what a deployment does not do, is refused in that API's form", async () => {
  const unknown = await call("/openai/deployments/none/images/generations", FOX);
  expect([unknown.status, unknown.error]).toMatchObject([404, { code: "model_not_found", param: "model" }]);
  const chat = await call("/openai/deployments/my-fox/chat/completions", { messages: [] });
  expect([chat.status, chat.error?.code]).toEqual([404, "not_found"]);
});
