import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { INPAINT, PLAIN } from "../catalog/beginning/workflows.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { type Comfy, SAVED, startComfy } from "../providers/comfyui/engine.ts";
import { createApi, download } from "./support/api.ts";
import { svcJson } from "./support/command.ts";
import { openEvents } from "./support/event-stream.ts";
import { dataUri, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const started: Comfy[] = [];
afterEach(async () => {
  await stopServers();
  for (const comfy of started.splice(0)) await comfy.stop();
});

const manifests = new Map<string, string>();

/** The manifest that `svc models init` begins with a workflow, which is the same each time. */
async function manifestOf(id: string, workflow: object): Promise<string> {
  const text = JSON.stringify(workflow);
  const known = manifests.get(id + text);
  if (known !== undefined) return known;
  const folder = emptyFolder("init");
  writeFileSync(join(folder, `${id}.json`), text);
  await svcJson(["models", "init", "--from", `${id}.json`, "-o", `${id}.yaml`], { folder });
  const manifest = readFileSync(join(folder, `${id}.yaml`), "utf8");
  manifests.set(id + text, manifest);
  return manifest;
}

/** A server with a model for each workflow, and a ComfyUI that draws what it is told to. */
async function serve(workflows: Readonly<Record<string, object>>) {
  const comfy = await startComfy();
  started.push(comfy);
  const picture = await plainImage(32, 32);
  const folder = emptyFolder();
  mkdirSync(join(folder, "svc-data/models"), { recursive: true });
  for (const [id, workflow] of Object.entries(workflows))
    writeFileSync(join(folder, `svc-data/models/${id}.yaml`), await manifestOf(id, workflow));
  comfy.instead = (path) =>
    path === "GET /view"
      ? new Response(Buffer.from(picture), { headers: { "content-type": "image/png" } })
      : undefined;
  const start = () => startServer({ folder, env: { COMFYUI_BASE_URL: comfy.origin } });
  const server = await start();
  const key = server.firstKey();
  return { comfy, picture, server, start, api: createApi(server.url, key), key };
}

test("a workflow becomes a model, whose task ends with the picture that ComfyUI saved", async () => {
  const { comfy, api } = await serve({ house: PLAIN });
  const id = await api.accept({ model: "house", prompt: "A red fox", size: "768x512", seed: 5 });
  await comfy.until(() => comfy.pending.length > 0);
  const current = comfy.begin();
  await comfy.until(() => comfy.clients.size > 0);
  if (current === undefined) throw new Error("Nothing waits.");
  const { graph } = current;
  expect(graph).toMatchObject({
    "3": { inputs: { seed: 5, steps: 20 } },
    "5": { inputs: { width: 768, height: 512, batch_size: 1 } },
    "6": { inputs: { text: "A red fox" } },
    "7": { inputs: { text: "text, watermark" } },
  });
  comfy.end({ outputs: SAVED });
  const task = await api.wait(id);
  expect(task).toMatchObject({ status: "completed", usage: { cost: "0.001000" } });
  const { width, height } = await decode(await download(task.result?.[0]));
  expect([width, height]).toEqual([32, 32]);
  expect(comfy.prompts).toHaveLength(1);
});

test("whoever follows a task sees how far it is, and what is drawn", async () => {
  const { comfy, picture, api } = await serve({ house: PLAIN });
  const id = await api.accept({ model: "house", prompt: "A red fox", partial_images: 1 });
  const stream = await openEvents(api, `/v1/tasks/${id}/events`);
  const until = async (name: string): Promise<JsonObject> => {
    for (let event = await stream.next(); ; event = await stream.next())
      if (event.name === name) return JSON.parse(event.data);
  };
  await comfy.until(() => comfy.pending.length > 0 && comfy.clients.size > 0);
  const current = comfy.begin();
  if (current === undefined) throw new Error("Nothing waits.");
  comfy.tell(current, "progress", { prompt_id: current.id, node: "3", value: 10, max: 20 });
  const head = Buffer.alloc(8);
  for (const at of [0, 4]) head.writeUInt32BE(1, at);
  comfy.clients.get(current.clientId ?? "")?.send(new Uint8Array(Buffer.concat([head, picture])));
  const preview = await until("preview");
  expect(preview).toMatchObject({ task_id: id, index: 0, media_type: "image/png" });
  expect(Buffer.from(String(preview.b64_json), "base64").equals(picture)).toBe(true);
  expect(await until("processing")).toMatchObject({ progress: 38 });
  comfy.end({ outputs: SAVED });
  await until("completed");
});

test("what a server lacks for a model is told at the start, and by providers test", async () => {
  const { comfy, server } = await serve({ house: PLAIN });
  const line = "node 3: there is no node KSampler";
  await server.says(new RegExp(`house cannot run there: ${line}`));
  const args = ["providers", "test", "comfyui", "--data-dir", server.dataDir];
  const tested = await svcJson(args, { env: { COMFYUI_BASE_URL: comfy.origin } });
  expect(tested).toMatchObject({
    ok: true,
    accounts: [{ result: "ok", lacks: expect.arrayContaining([`house: ${line}`]) }],
  });
});

test("a ComfyUI that was restarted in the middle makes the task again, and one that was not makes it once", async () => {
  const { comfy, api } = await serve({ house: PLAIN });
  const id = await api.accept({ model: "house", prompt: "A red fox" });
  await comfy.until(() => comfy.pending.length > 0);
  comfy.begin();
  await comfy.until(() => comfy.asked.includes("GET /queue"));
  comfy.restart();
  for (const client of comfy.clients.values()) client.close();
  await comfy.until(() => comfy.pending.length > 0);
  comfy.begin();
  comfy.end({ outputs: SAVED });
  expect((await api.wait(id)).status).toBe("completed");
  expect(comfy.prompts).toHaveLength(2);
  const [first, second] = comfy.prompts.map(({ prompt_id }) => prompt_id);
  expect(first).not.toBe(second);
});

test("a server of ours that was killed goes on with the prompt it had sent", async () => {
  const { comfy, api, server, start, key } = await serve({ house: PLAIN });
  const id = await api.accept({ model: "house", prompt: "A red fox" });
  await comfy.until(() => comfy.pending.length > 0);
  server.signal("SIGKILL");
  await server.exited;
  const again = await start();
  comfy.begin();
  comfy.end({ outputs: SAVED });
  expect((await createApi(again.url, key).wait(id)).status).toBe("completed");
  expect(comfy.prompts).toHaveLength(1);
});

test("an image and its mask arrive as one picture, and a cancel interrupts this prompt alone", async () => {
  const { comfy, api, picture } = await serve({ repair: INPAINT });
  comfy.addOthers(1);
  comfy.begin();
  const image_url = dataUri(picture);
  const mask_url = dataUri(await leftHalfMask(32, 32));
  const id = await api.accept({ model: "repair", prompt: "A hat", image_url, mask_url });
  await comfy.until(() => comfy.pending.length > 0);
  expect(comfy.uploads.map(({ path, fields }) => [path, fields.subfolder])).toEqual([
    ["/upload/image", "svc"],
    ["/upload/mask", "svc"],
  ]);
  comfy.end({ outputs: {} });
  comfy.addOthers(1);
  const ours = comfy.begin();
  expect((await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await api.wait(id)).status).toBe("cancelled");
  expect(comfy.interrupted).toEqual([String(ours?.id)]);
  expect(comfy.pending).toHaveLength(1);
});
