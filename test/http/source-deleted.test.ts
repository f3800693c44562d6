import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;

beforeAll(async () => {
  service = await startPublished();
});

afterAll(() => service.stop());

// It waits for pictures and films.
setDefaultTimeout(60_000);

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

interface Sent {
  readonly body?: JsonObject;
  readonly method?: string;
  readonly key?: string;
}

async function ask(path: string, { body, method = "POST", key }: Sent = {}): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${service.key}`,
      Accept: "application/json, text/event-stream",
      ...(body && { "Content-Type": "application/json" }),
      ...(key && { "Idempotency-Key": key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const [, last = text] = /^data: (.*)$/m.exec(text) ?? [];
  const read: unknown = JSON.parse(last);
  return { status: response.status, headers: response.headers, body: isJsonObject(read) ? read : {} };
}

const SOON = { delay_ms: 0 };
const IMAGE = { model: "sandbox-image", prompt: "A fox", size: "64x64", sandbox: SOON };
const VIDEO = { model: "sandbox-video", prompt: "Waves", duration: 1, aspect_ratio: "1:1", sandbox: SOON };
const EDITED = { model: "sandbox-video-edit", prompt: "At night", sandbox: SOON };

/** Creates a task and waits for its end. @returns its id */
async function ended(body: JsonObject): Promise<string> {
  const kind = String(body.model).includes("video") ? "videos" : "images";
  const { data } = (await ask(`/v1/${kind}/generations`, { body })).body as { data: JsonObject };
  await service.untilEnded(String(data.task_id));
  return String(data.task_id);
}

interface Follow {
  readonly name: string;
  readonly source: JsonObject;
  readonly path: (id: string) => string;
  readonly body?: (id: string, key: string) => JsonObject;
}

const edit = (id: string): JsonObject => ({ ...EDITED, video: { id } });
const interaction = (id: string): JsonObject => ({
  model: "sandbox-image",
  input: "In blue",
  previous_interaction_id: id,
  generation_config: { sandbox: SOON },
});
const tool = (images: string[], key: string): JsonObject => {
  const args = { model: "sandbox-image", prompt: "In blue", images, idempotency_key: key, sandbox: SOON };
  return {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "edit_image", arguments: args },
  };
};

const FOLLOWS: readonly Follow[] = [
  { name: "a retry", source: IMAGE, path: (id) => `/v1/tasks/${id}/retry` },
  {
    name: "variations",
    source: IMAGE,
    path: (id) => `/v1/tasks/${id}/variations`,
    body: () => ({ count: 3 }),
  },
  { name: "an enlargement", source: IMAGE, path: (id) => `/v1/tasks/${id}/upscale` },
  { name: "an extension", source: VIDEO, path: (id) => `/v1/tasks/${id}/extend`, body: () => EDITED },
  {
    ...{ name: "a video of a result", source: IMAGE, path: () => "/v1/videos/generations" },
    body: (id) => ({ model: "sandbox-video", prompt: "Waves", duration: 1, task_id: id, sandbox: SOON }),
  },
  {
    ...{ name: "a remix of OpenAI's", source: VIDEO, path: (id) => `/compat/v1/videos/${id}/remix` },
    body: () => ({ prompt: "At night" }),
  },
  { name: "an edit of OpenAI's", source: VIDEO, path: () => "/compat/v1/videos/edits", body: edit },
  { name: "an extension of OpenAI's", source: VIDEO, path: () => "/compat/v1/videos/extensions", body: edit },
  { name: "an interaction", source: IMAGE, path: () => "/gemini/v1beta/interactions", body: interaction },
  {
    ...{ name: "an interaction in the background", source: IMAGE, path: () => "/gemini/v1beta/interactions" },
    body: (id) => ({ ...interaction(id), background: true }),
  },
  { name: "an agent's edit", source: IMAGE, path: () => "/mcp", body: (id, key) => tool([id], key) },
];

/** What identifies the tasks that an answer tells of. */
function idsOf({ body, headers }: Answer): unknown {
  const data = isJsonObject(body.data) ? body.data : undefined;
  const structured = isJsonObject(body.result) ? body.result.structuredContent : undefined;
  const called = isJsonObject(structured) ? structured.task_id : undefined;
  return data ?? called ?? headers.get("x-task-id") ?? body.id;
}

describe.each(FOLLOWS.map((follow) => [follow.name, follow] as const))("%s", (name, follow) => {
  test("that is sent again after its source was deleted is answered as before", async () => {
    const source = await ended(follow.source);
    const key = `again ${name}`;
    const body = follow.body?.(source, key);
    const send = () => ask(follow.path(source), { key, ...(body && { body }) });
    const first = await send();
    expect([first.status, idsOf(first)]).toEqual([200, expect.anything()]);
    expect((await ask(`/v1/tasks/${source}`, { method: "DELETE" })).status).toBe(200);
    const again = await send();
    expect([again.status, idsOf(again)]).toEqual([200, idsOf(first)]);
    if (follow.path(source) !== "/mcp") expect(again.headers.get("x-idempotent-replay")).toBe("true");
    // With another key it is a new request, which finds no source.
    const fresh = follow.body?.(source, `${key} 2`);
    const refused = await ask(follow.path(source), { key: `${key} 2`, ...(fresh && { body: fresh }) });
    expect(JSON.stringify(refused.body)).toMatch(/task_not_found|no such task|"param":"task_id"/);
  });
});

test("another request with the key of one whose source was deleted is a conflict", async () => {
  const source = await ended(IMAGE);
  const path = `/v1/tasks/${source}/upscale`;
  expect((await ask(path, { key: "same" })).status).toBe(200);
  await ask(`/v1/tasks/${source}`, { method: "DELETE" });
  const other = await ask(path, { key: "same", body: { index: 1 } });
  expect([other.status, (other.body.data as JsonObject).error_code]).toEqual([409, "idempotency_conflict"]);
});

test("an enlargement that is sent again names its model, and none once both are deleted", async () => {
  const source = await ended(IMAGE);
  const path = `/v1/tasks/${source}/upscale`;
  const send = async () => (await ask(path, { key: "both" })).body.data as JsonObject;
  const first = await send();
  await service.untilEnded(String(first.task_id));
  for (const id of [source, first.task_id]) await ask(`/v1/tasks/${id}`, { method: "DELETE" });
  expect(await send()).toEqual({ ...first, model: null });
});

test("variations that are sent again after their source was deleted say which are missing", async () => {
  const account = { name: "short", credit: "0.02" };
  const admin = async (path: string, body: JsonObject) => {
    const headers = { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" };
    const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return ((await response.json()) as { data: JsonObject }).data;
  };
  await admin("/admin/v1/accounts", account);
  const { key } = await admin("/admin/v1/keys", { name: "short", account: "short" });
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const post = async (path: string, body: JsonObject) => {
    const sent = { method: "POST", headers: { ...headers, "Idempotency-Key": "some" } };
    const response = await fetch(service.url + path, { ...sent, body: JSON.stringify(body) });
    return ((await response.json()) as { data: JsonObject }).data;
  };
  const source = String((await post("/v1/images/generations", IMAGE)).task_id);
  await service.untilEnded(source, String(key));
  const vary = () => post(`/v1/tasks/${source}/variations`, { count: 2 });
  const first = await vary();
  expect(first.task_ids).toHaveLength(1);
  await fetch(`${service.url}/v1/tasks/${source}`, { method: "DELETE", headers });
  const again = await vary();
  expect(again.task_ids).toEqual(first.task_ids as string[]);
  expect(again.refused).toMatchObject({ count: 1, error_code: "task_not_found" });
});
