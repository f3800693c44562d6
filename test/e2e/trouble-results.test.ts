import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { COMPLETED, type Queue, startQueue } from "../providers/fal/harness.ts";
import { type Api, createApi } from "./support/api.ts";
import { svc } from "./support/command.ts";
import { openEvents } from "./support/event-stream.ts";
import { dataUri, plainImage } from "./support/pictures.ts";
import { openReceiver, type Receiver } from "./support/receivers.ts";

setDefaultTimeout(120_000);

const SQUARE = { model: "gpt-image-2", size: "1024x1024", quality: "low" };
const GENERATIONS = "/compat/v1/images/generations";

/** What a status answer says of a task that lacks results. */
interface Told {
  readonly status?: string;
  readonly result?: readonly string[];
  readonly result_issues?: readonly JsonObject[];
  readonly error_code?: string;
  readonly usage?: { readonly cost: string };
}

let openai: ScriptedUpstream;
let fal: Queue;
let receiver: Receiver;
let server: Server;
let api: Api;
let good: string;

const FILES: Record<string, Scripted> = {
  "/files/gone.png": { status: 410, body: "" },
  "/files/never.png": { status: 404, body: "" },
  "/files/broken.png": { body: "no picture" },
};

/** What each upstream makes of a request, by its prompt. */
const images = (): Record<string, JsonObject[]> => ({
  "one of two": [{ b64_json: good }],
  "the first is broken": [{ b64_json: btoa("no picture") }, { b64_json: good }],
  "the second is moderated": [{ b64_json: good }, { error: { code: "content_policy_violation" } }],
  "all broken": [{ b64_json: btoa("no picture") }, { b64_json: btoa("none either") }],
  none: [],
});
const files = (origin: string): Record<string, JsonObject> => {
  const there = { url: dataUri(Buffer.from(good, "base64")) };
  const at = (name: string) => ({ url: `${origin}/files/${name}.png` });
  return {
    "the first is blackened": { images: [there, there], has_nsfw_concepts: [true, false] },
    "all blackened": { images: [there, there], has_nsfw_concepts: [true, true] },
    "the first is gone": { images: [at("gone"), there] },
    "the second is never there": { images: [there, at("never")] },
    "the second is no picture": { images: [there, at("broken")] },
  };
};

function openAiAnswer({ body }: Arrived): Scripted {
  const { prompt } = JSON.parse(body.toString()) as { prompt: string };
  return { json: { created: 1, data: images()[prompt] ?? [], size: "1024x1024" } };
}

beforeAll(async () => {
  good = Buffer.from(await plainImage(8, 8)).toString("base64");
  openai = await startUpstream(openAiAnswer);
  fal = await startQueue(({ prompt }) => ({
    statuses: [COMPLETED],
    result: { json: files(fal.origin)[String(prompt)] ?? {} },
  }));
  const jobs = fal.answer;
  fal.answer = (request) => FILES[request.path] ?? jobs(request);
  receiver = openReceiver();
  server = await startServer({
    env: {
      OPENAI_API_KEY: "sk-upstream-0123456789",
      SVC_PROVIDERS_OPENAI_BASE_URL: openai.origin,
      FAL_KEY: "upstream-id:upstream-secret",
      SVC_PROVIDERS_FAL_BASE_URL: fal.origin,
    },
    args: ["--egress-allow", "127.0.0.0/8"],
  });
  api = createApi(server.url, server.firstKey());
});
afterAll(async () => {
  openai.stop();
  fal.stop();
  await receiver.stop();
  await stopServers();
});

const MODERATED = "CONTENT_MODERATED";
const LOST = "FINALIZATION_FAILED";
const NOT_MADE = "UPSTREAM_ERROR";

describe("fewer results than asked for", () => {
  test.concurrent.each([
    ["gpt-image-2", "one of two", 1, NOT_MADE, "0.006000"],
    ["gpt-image-2", "the first is broken", 0, LOST, "0.006000"],
    ["gpt-image-2", "the second is moderated", 1, MODERATED, "0.006000"],
    ["flux-schnell", "the first is blackened", 0, MODERATED, "0.003000"],
    ["flux-schnell", "the first is gone", 0, LOST, "0.003000"],
    ["flux-schnell", "the second is never there", 1, LOST, "0.003000"],
    ["flux-schnell", "the second is no picture", 1, LOST, "0.003000"],
  ] as const)(
    "%s, %s: completed, and charged for what there is",
    async (model, prompt, index, code, cost) => {
      const more = model === "gpt-image-2" ? SQUARE : {};
      const task: Told = await api.make({ ...more, model, prompt, n: 2 });
      expect([task.status, task.result?.length, task.usage?.cost]).toEqual(["completed", 1, cost]);
      expect(task.result_issues).toEqual([{ index, code, message: expect.any(String) }]);
    },
  );

  test.concurrent.each([
    ["gpt-image-2", "all broken", LOST],
    ["gpt-image-2", "none", NOT_MADE],
    ["flux-schnell", "all blackened", MODERATED],
  ] as const)("%s, %s: failed, and nothing is charged", async (model, prompt, code) => {
    const more = model === "gpt-image-2" ? SQUARE : {};
    const task: Told = await api.make({ ...more, model, prompt, n: 2 });
    expect([task.status, task.error_code, task.usage?.cost]).toEqual(["failed", code, "0.000000"]);
    expect(task.result_issues).toBeUndefined();
  });

  test("status, lists, events, callbacks, the synchronous answer and the commands tell of them", async () => {
    const body = { ...SQUARE, prompt: "the first is broken", n: 2 };
    const task = await api.make({ ...body, callback_url: receiver.url });
    const issues = [{ index: 0, code: LOST, message: expect.any(String) }];
    const listed = (await api.send("/v1/tasks")).data.tasks?.find(({ task_id: id }) => id === task.task_id);
    expect(listed).toMatchObject({ result_issues: issues });
    const events = await openEvents(api, `/v1/tasks/${task.task_id}/events`);
    expect(JSON.parse((await events.next()).data)).toMatchObject({ result_issues: issues });
    await receiver.received(1);
    expect(receiver.posts[0]?.body).toMatchObject({ status: "completed", result_issues: issues });
    for (const response_format of ["url", "b64_json"]) {
      const answer = await api.send(GENERATIONS, { body: { ...body, response_format } });
      expect(JSON.parse(answer.text)).toMatchObject({ data: [{}], result_issues: issues });
      expect(answer.headers.get("x-request-cost")).toBe("0.006000");
    }
    const streamed = await api.send(GENERATIONS, { body: { ...body, stream: true } });
    expect(streamed.text).toContain('"result_issues":[{"index":0');
    const env = { SVC_SERVER: server.url, SVC_API_KEY: api.key };
    expect((await svc(["task", "get", task.task_id], { env })).stdout).toContain(LOST);
    expect((await svc(["task", "wait", task.task_id], { env })).stderr).toContain(LOST);
    expect((await svc(["task", "list"], { env })).stdout).toContain("completed, 1 missing");
  });
});

describe("a cancel that the provider has not answered yet", () => {
  test("is told in the answer, status, lists, events and commands until it has", async () => {
    const sandbox = { delay_ms: 60_000 };
    const id = await api.accept({ model: "sandbox-image", prompt: "x", sandbox });
    await api.underWay(id);
    const events = await openEvents(api, `/v1/tasks/${id}/events`);
    const all = await openEvents(api, "/v1/events");
    expect(JSON.parse((await events.next()).data)).not.toHaveProperty("cancel_requested");
    const cancelled = await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
    expect(cancelled.data).toMatchObject({ status: "processing", cancel_requested: true });
    expect(JSON.parse((await events.next()).data)).toMatchObject({ cancel_requested: true });
    expect(JSON.parse((await all.next()).data)).toMatchObject({ task_id: id, cancel_requested: true });
    const ended = await api.wait(id);
    expect(ended.status).toBe("cancelled");
    expect(ended).not.toHaveProperty("cancel_requested");
    all.cut();
  });
});
