import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { startWebUi, type WebUi } from "../providers/sdapi/engine.ts";
import { createApi, download } from "./support/api.ts";
import { svcJson } from "./support/command.ts";
import { decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const started: WebUi[] = [];
afterEach(async () => {
  await stopServers();
  for (const ui of started.splice(0)) await ui.stop();
});

const MODEL = {
  ...{ id: "house", kind: "image", name: "House", description: "Draws.", deadline_seconds: 600 },
  modes: [{ id: "text-to-image", requires: [] }],
  schema: {
    required: ["prompt"],
    properties: {
      prompt: { type: "string", minLength: 1, maxLength: 400, description: "What to draw." },
      n: { type: "integer", minimum: 1, maximum: 4, default: 1, description: "How many." },
    },
  },
  price: { lines: [{ sku: "house", unit: "output", amount: "0.001000" }] },
  routes: [{ provider: "sdapi", upstream_model: "v1-5" }],
};

/** A server with a model, unless others are given, and a web UI that draws what it is told to. */
async function serve({
  checkpoints,
  models = [MODEL],
  env = {},
}: {
  checkpoints?: string[];
  models?: readonly (typeof MODEL)[];
  env?: Record<string, string>;
} = {}) {
  const ui = await startWebUi();
  started.push(ui);
  if (checkpoints !== undefined) ui.checkpoints = checkpoints;
  const picture = Buffer.from(await plainImage(32, 32)).toString("base64");
  const folder = emptyFolder();
  mkdirSync(join(folder, "svc-data/models"), { recursive: true });
  for (const model of models)
    writeFileSync(join(folder, `svc-data/models/${model.id}.yaml`), JSON.stringify(model));
  const start = () => startServer({ folder, env: { SDAPI_BASE_URL: ui.origin, ...env } });
  const server = await start();
  const key = server.firstKey();
  return { ui, picture, server, start, key, api: createApi(server.url, key) };
}

const arrives = (ui: WebUi, count = 1) => ui.until(() => ui.bodies.length >= count);

test("tasks of several checkpoints that come mixed have each of them loaded once", async () => {
  const checkpoints = ["anime.safetensors [a1]", "photo.safetensors [b2]", "xl.safetensors [c3]"];
  const names = ["anime", "photo", "xl"];
  const models = names.map((name) => ({
    ...MODEL,
    id: name,
    routes: [{ provider: "sdapi", upstream_model: name }],
  }));
  const { ui, api, picture } = await serve({
    checkpoints,
    models,
    env: { SVC_PROVIDERS_SDAPI_CONCURRENCY: "1" },
  });
  const ids = [];
  for (const model of [...names, ...names, ...names, ...names])
    ids.push(await api.accept({ model, prompt: "A red fox" }));
  for (let made = 1; made <= ids.length; made++) {
    await arrives(ui, made);
    ui.end({ images: [picture] });
  }
  for (const id of ids) expect((await api.wait(id)).status).toBe("completed");
  expect(ui.bodies.map(({ override_settings: settings }) => settings)).toMatchObject(
    checkpoints.flatMap((each) => Array.from({ length: 4 }, () => ({ sd_model_checkpoint: each }))),
  );
});

test("a task waits behind another's, and ends with its pictures without the grid", async () => {
  const { ui, api, picture } = await serve();
  ui.addOther();
  const id = await api.accept({ model: "house", prompt: "A red fox", n: 2 });
  await arrives(ui);
  ui.end();
  await ui.until(() => ui.asked.includes("POST /internal/progress"));
  const grid = Buffer.from(await plainImage(64, 32)).toString("base64");
  ui.end({ images: [grid, picture, picture, grid], info: { index_of_first_image: 1 } });
  const task = await api.wait(id);
  expect(task).toMatchObject({ status: "completed", usage: { cost: "0.002000" } });
  for (const file of task.result ?? []) {
    const { width, height } = await decode(await download(file));
    expect([width, height]).toEqual([32, 32]);
  }
  expect(ui.bodies).toMatchObject([
    { prompt: "A red fox", n_iter: 2, override_settings: { sd_model_checkpoint: "v1-5.safetensors [abc]" } },
  ]);
});

test("a web UI that was restarted in the middle makes the task again", async () => {
  const { ui, api, picture } = await serve();
  const id = await api.accept({ model: "house", prompt: "A red fox" });
  await arrives(ui);
  await ui.until(() => ui.asked.includes("POST /internal/progress"));
  ui.restart();
  await arrives(ui, 2);
  ui.end({ images: [picture] });
  expect((await api.wait(id)).status).toBe("completed");
  const [first, second] = ui.bodies.map(({ force_task_id }) => force_task_id);
  expect(first).not.toBe(second);
});

test("a server of ours that was killed awaits what is made, and makes nothing twice", async () => {
  const { ui, api, server, start, key } = await serve();
  const id = await api.accept({ model: "house", prompt: "A red fox" });
  await arrives(ui);
  await ui.until(() => ui.asked.includes("POST /internal/progress"));
  server.signal("SIGKILL");
  await server.exited;
  const before = ui.asked.length;
  const again = await start();
  await ui.until(() => ui.asked.slice(before).includes("POST /internal/progress"));
  ui.end();
  expect(await createApi(again.url, key).wait(id)).toMatchObject({
    status: "failed",
    error_code: "OUTCOME_UNKNOWN",
  });
  expect(ui.bodies).toHaveLength(1);
});

test("a cancelled task of a shared server is left to end, and others' are not touched", async () => {
  const { ui, api } = await serve();
  const id = await api.accept({ model: "house", prompt: "A red fox" });
  await arrives(ui);
  ui.addOther();
  expect((await api.send(`/v1/tasks/${id}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await api.wait(id)).status).toBe("cancelled");
  expect(ui.interrupted).toEqual([]);
});

test("a checkpoint that is not there is told at the start and by providers test, and fails the task", async () => {
  const { ui, api, server } = await serve({ checkpoints: ["v1-4.safetensors"] });
  const task = await api.wait(await api.accept({ model: "house", prompt: "A red fox" }));
  expect(task.status).toBe("failed");
  await server.says(/there is no checkpoint v1-5; did you mean v1-4/);
  const args = ["providers", "test", "sdapi", "--data-dir", server.dataDir];
  expect(await svcJson(args, { env: { SDAPI_BASE_URL: ui.origin } })).toMatchObject({
    accounts: [
      {
        result: "ok",
        lacks: ["house: there is no checkpoint v1-5; did you mean v1-4.safetensors?"],
      },
    ],
  });
  expect(ui.bodies).toEqual([]);
});
