import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";
import { ask, makeKey } from "./mcp/agent.ts";

// It waits for videos.
setDefaultTimeout(60_000);

let service: PublishedService;
/** A key of another account. */
let stranger: string;

beforeAll(async () => {
  service = await startPublished({ SVC_SCHEDULER_CONCURRENCY: "8" });
  const account = await ask(service, service.token, "/admin/v1/accounts", { name: "other", credit: "1" });
  stranger = await makeKey(service, { name: "other", account: String(account.id) });
});

afterAll(() => service.stop());

const SOON = { delay_ms: 0 };
const PICTURE = { prompt: "A fox", size: "16x16", sandbox: SOON };
const FILM = { prompt: "A fox", duration: 1, aspect_ratio: "1:1", sandbox: SOON };
const LABELS = { sandbox: JSON.stringify(SOON) };

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly task: string;
}

async function send(key: string, path: string, body?: JsonObject, method?: string): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      Accept: "application/json, text/event-stream",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const data = text.startsWith("event:") ? text.slice(text.lastIndexOf("data: ") + 6) : text;
  const task = response.headers.get("x-task-id") ?? "";
  return { status: response.status, body: JSON.parse(data || "{}") as JsonObject, task };
}

/** Calls a tool. */
async function tool(key: string, name: string, given: JsonObject): Promise<JsonObject> {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
  return (await send(key, "/mcp", message)).body.result as JsonObject;
}

type Kind = "image" | "video";
type Make = readonly [kind: Kind, make: () => Promise<unknown>];

/** What makes a task, and the id that its API has for it. */
const makers: Readonly<Record<string, Make>> = {
  "the service's own, a picture": [
    "image",
    async () =>
      ((await own("/v1/images/generations", { model: "sandbox-image", ...PICTURE })).data as JsonObject)
        .task_id,
  ],
  "the service's own, a film": [
    "video",
    async () =>
      ((await own("/v1/videos/generations", { model: "sandbox-video", ...FILM })).data as JsonObject).task_id,
  ],
  "OpenAI's images": [
    "image",
    async () =>
      (await send(service.key, "/compat/v1/images/generations", { model: "sandbox-image", ...PICTURE })).task,
  ],
  "OpenAI's videos": [
    "video",
    async () =>
      (
        await own("/compat/v1/videos", {
          model: "sandbox-video",
          prompt: "A fox",
          seconds: "1",
          size: "360x360",
        })
      ).id,
  ],
  "fal, a picture": ["image", async () => (await own("/fal/queue/svc/sandbox-image", PICTURE)).request_id],
  "fal, a film": ["video", async () => (await own("/fal/queue/svc/sandbox-video", FILM)).request_id],
  "Replicate, a picture": [
    "image",
    async () => (await own("/replicate/v1/models/svc/sandbox-image/predictions", { input: PICTURE })).id,
  ],
  "Replicate, a film": [
    "video",
    async () => (await own("/replicate/v1/models/svc/sandbox-video/predictions", { input: FILM })).id,
  ],
  "Gemini, a picture": [
    "image",
    async () =>
      (
        await own("/gemini/v1beta/models/sandbox-image:generateContent", {
          contents: [{ role: "user", parts: [{ text: "A fox" }] }],
          labels: LABELS,
        })
      ).responseId,
  ],
  "Gemini, a film": [
    "video",
    async () => {
      const parameters = { durationSeconds: 1, sandbox: SOON };
      const body = { instances: [{ prompt: "A fox" }], parameters };
      const { name } = await own("/gemini/v1beta/models/sandbox-video:predictLongRunning", body);
      return String(name).split("/").at(-1);
    },
  ],
  "Gemini's interactions, a picture": [
    "image",
    async () =>
      (await own("/gemini/v1beta/interactions", { model: "sandbox-image", input: "A fox", labels: LABELS }))
        .id,
  ],
  "Gemini's interactions, a film": [
    "video",
    async () => {
      const asked = { model: "sandbox-video", input: "A fox", labels: LABELS };
      const format = { type: "video", duration: "1s", aspect_ratio: "1:1" };
      return (await own("/gemini/v1beta/interactions", { ...asked, response_format: format })).id;
    },
  ],
  AUTOMATIC1111: [
    "image",
    async () =>
      (await send(service.key, "/sdapi/v1/txt2img", { prompt: "A fox", width: 64, height: 64 })).task,
  ],
  "MCP, a picture": [
    "image",
    async () =>
      (
        (await tool(service.key, "generate_image", { model: "sandbox-image", ...PICTURE }))
          .structuredContent as JsonObject
      ).task_id,
  ],
  "MCP, a film": [
    "video",
    async () =>
      (
        (await tool(service.key, "generate_video", { model: "sandbox-video", ...FILM }))
          .structuredContent as JsonObject
      ).task_id,
  ],
};

const own = async (path: string, body: JsonObject): Promise<JsonObject> => {
  const answer = await send(service.key, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer));
  return answer.body;
};

interface Reader {
  /** The kinds of tasks that its API has; both unless given. */
  readonly kinds?: readonly Kind[];
  readonly read: (key: string, id: string, kind: Kind) => Promise<{ status: number; body: JsonObject }>;
  readonly cancel: (key: string, id: string) => Promise<{ status: number; body: JsonObject }>;
  /** That a task is over. */
  readonly over: JsonObject;
  /** That there is none, in that API's words. */
  readonly none: { readonly status: number; readonly body: JsonObject };
}

const called = async (result: Promise<JsonObject>) => ({ status: 200, body: await result });

const readers: Readonly<Record<string, Reader>> = {
  "the service's own": {
    read: (key, id, kind) => send(key, `/v1/${kind}s/status/${id}`),
    cancel: (key, id) => send(key, `/v1/tasks/${id}/cancel`, {}),
    over: { data: { status: "completed" } },
    none: { status: 404, body: { code: 404, data: { error_code: "task_not_found" } } },
  },
  "OpenAI's videos": {
    kinds: ["video"],
    read: (key, id) => send(key, `/compat/v1/videos/${id}`),
    cancel: (key, id) => send(key, `/compat/v1/videos/${id}`, undefined, "DELETE"),
    over: { object: "video", status: "completed" },
    none: { status: 404, body: { error: { code: "task_not_found", type: "invalid_request_error" } } },
  },
  fal: {
    read: (key, id) => send(key, `/fal/queue/svc/any/requests/${id}/status`),
    cancel: (key, id) => send(key, `/fal/queue/svc/any/requests/${id}/cancel`, undefined, "PUT"),
    over: { status: "COMPLETED" },
    none: { status: 404, body: { detail: "There is no such task in this account." } },
  },
  Replicate: {
    read: (key, id) => send(key, `/replicate/v1/predictions/${id}`),
    cancel: (key, id) => send(key, `/replicate/v1/predictions/${id}/cancel`, {}),
    over: { status: "succeeded" },
    none: { status: 404, body: { detail: "The requested resource could not be found." } },
  },
  Gemini: {
    read: (key, id) => send(key, `/gemini/v1beta/operations/${id}`),
    cancel: (key, id) => send(key, `/gemini/v1beta/operations/${id}:cancel`, {}),
    over: { done: true },
    none: { status: 404, body: { error: { code: 404, status: "NOT_FOUND" } } },
  },
  "Gemini's interactions": {
    read: (key, id) => send(key, `/gemini/v1beta/interactions/${id}`),
    cancel: (key, id) => send(key, `/gemini/v1beta/interactions/${id}/cancel`, {}),
    over: { status: "completed" },
    none: { status: 404, body: { error: { code: 404, status: "NOT_FOUND" } } },
  },
  MCP: {
    read: (key, id) => called(tool(key, "get_task", { task_id: id })),
    cancel: (key, id) => called(tool(key, "cancel_task", { task_id: id })),
    over: { structuredContent: { status: "completed" } },
    none: {
      status: 200,
      body: { isError: true, content: [{ type: "text", text: expect.stringContaining("task_not_found") }] },
    },
  },
};

/** Well-formed, and nobody's. */
const UNKNOWN = "task_01jd0000000000000000000000";
/** What differs between two answers that say the same of two ids. */
const withoutId = ({ status, body }: { status: number; body: JsonObject }, id: string) =>
  JSON.stringify({ status, body })
    .replaceAll(id, "ID")
    .replaceAll(/req_[0-9a-z]{26}/g, "REQUEST");

describe.each(Object.entries(makers))("a task that came by %s", (_, [kind, make]) => {
  let id: string;
  beforeAll(async () => {
    id = String(await make());
    expect(id).toMatch(/^task_[0-9a-z]{26}$/);
    await service.untilEnded(id);
  });

  test.each(Object.entries(readers))(
    "is the same task by %s, and none for another account, as one that nobody knows",
    async (_name, { kinds = ["image", "video"], read, cancel, over, none }) => {
      const mine = await read(service.key, id, kind);
      if (kinds.includes(kind)) expect(mine).toMatchObject({ status: 200, body: over });
      else expect(mine).toMatchObject(none);
      for (const call of [(of: string) => read(stranger, of, kind), (of: string) => cancel(stranger, of)]) {
        const theirs = await call(id);
        expect(withoutId(theirs, id)).toBe(withoutId(await call(UNKNOWN), UNKNOWN));
        expect(theirs).toMatchObject(none);
      }
      // Nothing of it was changed.
      expect((await service.untilEnded(id)).status).toBe("completed");
    },
  );
});
