import { afterAll, beforeAll, expect, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/domain/json.ts";
import { KEYS, startFakeS3 } from "../../helpers/fake-s3.ts";
import { png } from "../../helpers/media.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

let service: PublishedService;
let picture: string;

beforeAll(async () => {
  service = await startPublished();
  picture = Buffer.from(await png(64, 64)).toString("base64");
});
afterAll(() => service.stop());

const SLOWLY = { delay_ms: 300 };
const calls = (): Readonly<Record<string, readonly [path: string, body: JsonObject]>> => ({
  "of the images API": [
    "/compat/v1/images/generations",
    { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: SLOWLY },
  ],
  "of the images API that streams": [
    "/compat/v1/images/generations",
    { model: "sandbox-image", prompt: "y", size: "16x16", stream: true, sandbox: SLOWLY },
  ],
  "of Gemini's": [
    "/gemini/v1beta/models/sandbox-image:generateContent",
    { contents: [{ parts: [{ text: "x" }] }], generationConfig: { sandbox: SLOWLY, size: "16x16" } },
  ],
  "of Gemini's that streams": [
    "/gemini/v1beta/models/sandbox-image:streamGenerateContent?alt=sse",
    { contents: [{ parts: [{ text: "y" }] }], generationConfig: { sandbox: SLOWLY, size: "16x16" } },
  ],
  "of fal's with sync_mode": [
    "/fal/svc/sandbox-image",
    { prompt: "x", size: "16x16", sync_mode: true, sandbox: SLOWLY },
  ],
  "of AUTOMATIC1111's": [
    "/sdapi/v1/txt2img",
    {
      prompt: "x",
      override_settings: { sd_model_checkpoint: "sandbox-image" },
      size: "16x16",
      sandbox: SLOWLY,
    },
  ],
  "of AUTOMATIC1111's that enlarges": [
    "/sdapi/v1/extra-single-image",
    { image: picture, upscaler_1: "sandbox-upscale" },
  ],
});

async function send(name: string, headers: Readonly<Record<string, string>> = {}) {
  const [path, body] = calls()[name] ?? ["", {}];
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.key}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function tasks(): Promise<string[]> {
  const response = await fetch(`${service.url}/v1/tasks`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  const { data } = (await response.json()) as { data: { tasks: { task_id: string }[] } };
  return data.tasks.map(({ task_id }) => task_id);
}

test.each([
  ...["of the images API", "of the images API that streams", "of Gemini's", "of Gemini's that streams"],
  ...["of fal's with sync_mode", "of AUTOMATIC1111's", "of AUTOMATIC1111's that enlarges"],
])("a call %s whose picture cannot be read is not paid twice where it is sent again", async (name) => {
  const before = await tasks();
  await send(name, { Prefer: "wait=0" });
  const [id = "", ...others] = (await tasks()).filter((each) => !before.includes(each));
  expect(others).toEqual([]);
  await service.untilEnded(id);
  const [files, away] = [join(service.dataDir, "assets", "sha256"), join(service.dataDir, "away")];
  renameSync(files, away);
  const unreadable = await send(name);
  renameSync(away, files);
  expect(unreadable.text).toMatch(/internal_error|INTERNAL/i);
  if (unreadable.status === 500) expect(unreadable.headers.get("x-should-retry")).toBe("false");
  const again = await send(name);
  expect(again.status).toBe(200);
  expect(again.text).toContain("iVBORw0KGgo");
  expect((await tasks()).filter((each) => !before.includes(each))).toEqual([id]);
});

test("an agent is told of a task whose picture cannot be read, with the picture's address", async () => {
  const call = async (name: string, args: JsonObject) => {
    const response = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: {
        ...{ Authorization: `Bearer ${service.key}`, "Content-Type": "application/json" },
        Accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    const text = (await response.text()).replace(/^.*?data: /s, "");
    return (JSON.parse(text) as { result: { content: JsonObject[]; structuredContent: JsonObject } }).result;
  };
  const made = await call("generate_image", { model: "sandbox-image", prompt: "x", size: "16x16" });
  const id = made.structuredContent.task_id as string;
  expect(made.content[0]?.type).toBe("image");
  const [files, away] = [join(service.dataDir, "assets", "sha256"), join(service.dataDir, "away")];
  renameSync(files, away);
  const read = await call("get_task", { task_id: id });
  renameSync(away, files);
  expect(read.structuredContent).toMatchObject({ task_id: id, status: "completed" });
  expect(read.content[0]).toMatchObject({ type: "resource_link", mimeType: "image/png" });
});

test("a call whose picture is read too late for its address is not paid twice where it is sent again", async () => {
  const s3 = await startFakeS3();
  const slow = await startPublished({
    SVC_ASSETS_STORE: "s3",
    SVC_ASSETS_BUCKET: "media",
    SVC_ASSETS_ENDPOINT: s3.endpoint,
    SVC_ASSETS_REGION: s3.region,
    SVC_ASSETS_KEY_ENV: "BUCKET_ID,BUCKET_SECRET",
    BUCKET_ID: KEYS.accessKeyId,
    BUCKET_SECRET: KEYS.secretAccessKey,
    SVC_EDGE_TIMEOUT_SECONDS: "1",
  });
  const send = async (headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${slow.url}/compat/v1/images/generations`, {
      method: "POST",
      headers: { Authorization: `Bearer ${slow.key}`, "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ model: "sandbox-image", prompt: "x", size: "16x16", sandbox: SLOWLY }),
    });
    await response.text();
    return { status: response.status, task: response.headers.get("x-task-id") ?? "" };
  };
  const { task } = await send({ Prefer: "wait=0" });
  await slow.untilEnded(task);
  rmSync(join(slow.dataDir, "assets", "cache"), { recursive: true });
  s3.fault = ({ method }) => (method === "GET" ? { delayMs: 1_500 } : undefined);
  expect((await send()).status).toBe(504);
  s3.fault = () => undefined;
  // The picture comes in the meantime, and nobody gets it.
  await Bun.sleep(1_000);
  expect(await send()).toEqual({ status: 200, task });
  await slow.stop();
  s3.stop();
});
