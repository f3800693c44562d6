import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import {
  GIMP_INPAINT,
  GIMP_TXT2IMG,
  KRITA_TXT2IMG,
  OPEN_WEBUI,
  SILLYTAVERN,
} from "../http/facades/automatic1111-bodies.ts";
import { createApi, download } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { colourAt, decode, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);
afterEach(stopServers);

interface Drawn {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly images?: string[]; readonly info?: string } & JsonObject;
}

/** A call of the API as its clients make it, with the key as a password. */
function clientOf({ url }: Server, key: string) {
  const Authorization = `Basic ${Buffer.from(`svc:${key}`).toString("base64")}`;
  return async (path: string, body?: JsonObject, signal?: AbortSignal): Promise<Drawn> => {
    const response = await fetch(`${url}/sdapi/v1/${path}`, {
      headers: { Authorization, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Drawn["body"],
    };
  };
}

const tasksOf = ({ dataDir }: Server) =>
  readDatabase<{ model: string; status: string; charged_micros: number | null }>(
    dataDir,
    "SELECT model, status, charged_micros FROM task ORDER BY id",
  );

test("clients draw, and what a key chose holds after a restart", async () => {
  const port = freePort();
  const server = await startServer({ port, args: ["--alias", "dreamshaper=sandbox-image"] });
  const key = server.firstKey();
  const call = clientOf(server, key);
  for (const body of [OPEN_WEBUI, SILLYTAVERN, KRITA_TXT2IMG, GIMP_TXT2IMG]) {
    const { status, body: drawn } = await call("txt2img", { ...body, sandbox: { delay_ms: 0 } });
    expect([status, drawn.images?.length]).toEqual([200, Number(body.n_iter ?? 1)]);
    const image = Buffer.from(drawn.images?.[0] ?? "", "base64");
    expect(await decode(image)).toMatchObject({ width: body.width, height: body.height });
    const { body: read } = await call("png-info", { image: image.toString("base64") });
    expect(read.info).toStartWith("A fox in the snow");
  }
  const init = await plainImage(384, 384);
  const painted = await call("img2img", {
    ...{ ...GIMP_INPAINT, sandbox: { delay_ms: 0 }, inpainting_mask_invert: 1 },
    ...{ init_images: [init.toBase64()], mask: (await leftHalfMask(384, 384)).toBase64() },
  });
  expect(painted.status).toBe(200);
  expect((await call("options", { sd_model_checkpoint: "dreamshaper" })).status).toBe(200);
  await server.stop();
  const again = await startServer({
    folder: server.folder,
    port,
    args: ["--alias", "dreamshaper=sandbox-image"],
  });
  expect((await clientOf(again, key)("options")).body.sd_model_checkpoint).toBe("dreamshaper");
});

test("a call that a kill cut off is joined by the same one after the restart, and charged once", async () => {
  const port = freePort();
  const server = await startServer({ port });
  const key = server.firstKey();
  const body = { prompt: "A fox", width: 64, height: 64, seed: -1, sandbox: { delay_ms: 3000 } };
  const cut = clientOf(server, key)("txt2img", { ...body, force_task_id: "one" }).catch(() => "cut");
  while ((await clientOf(server, key)("progress")).body.progress === 0) await Bun.sleep(20);
  server.signal("SIGKILL");
  expect(await cut).toBe("cut");
  await server.stop();
  const again = await startServer({ folder: server.folder, port });
  const drawn = await clientOf(again, key)("txt2img", { ...body, force_task_id: "two" });
  expect([drawn.status, drawn.headers.get("x-request-cost")]).toEqual([200, "0.010000"]);
  expect(tasksOf(again)).toEqual([{ model: "sandbox-image", status: "completed", charged_micros: 10_000 }]);
});

/** A model of the front whose tasks go to the instance behind by this API. */
const MODEL = `
id: house-image
kind: image
name: House image
description: What the other instance draws.
modes:
  - { id: text-to-image, requires: [] }
  - { id: image-to-image, requires: [image] }
  - { id: inpaint, requires: [image, mask] }
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1 }
    size: { type: string, pattern: "^\\\\d+x\\\\d+$" }
    n: { type: integer, minimum: 1, maximum: 4, default: 1 }
    image_url: { description: An image to draw anew. }
    mask_url: { description: Transparent where it is drawn anew. }
    sandbox: { type: object, description: How it goes. }
shared: [seed]
media:
  image_url: { role: image, media: image }
  mask_url: { role: mask, media: image }
price:
  lines: [{ sku: house-image, unit: output, amount: "0.050000" }]
deadline_seconds: 600
routes: [{ provider: sdapi, upstream_model: MODEL }]
`;

/** A front that draws through an instance behind it. */
function startFront(
  behind: Pick<Server, "url">,
  key: string,
  { folder = emptyFolder("front"), port = freePort(), model = "sandbox-image" } = {},
): Promise<Server> {
  mkdirSync(join(folder, "svc-data/models"), { recursive: true });
  writeFileSync(join(folder, "svc-data/models/house-image.yaml"), MODEL.replace("MODEL", model));
  const env = { SDAPI_BASE_URL: behind.url, SDAPI_API_KEY: `svc:${key}` };
  return startServer({ folder, port, env, args: ["--no-sandbox"] });
}

test("our own client of this API draws through another instance: from a prompt, a picture, and under a mask", async () => {
  const behind = await startServer();
  const front = await startFront(behind, behind.firstKey());
  const api = createApi(front.url, front.firstKey());
  const drawn = await api.make({ model: "house-image", prompt: "a fox", size: "64x48", n: 2, seed: 3 });
  expect([drawn.status, drawn.result?.length]).toEqual(["completed", 2]);
  expect(await decode(await download(drawn.result?.[0]))).toMatchObject({ width: 64, height: 48 });
  const uri = (bytes: Uint8Array) => `data:image/png;base64,${bytes.toBase64()}`;
  const [image, mask] = [await plainImage(64, 64), await leftHalfMask(64, 64)];
  const [before, painted] = [
    await decode(image),
    await api.make({ model: "house-image", prompt: "a fox", image_url: uri(image), mask_url: uri(mask) }),
  ];
  const after = await decode(await download(painted.result?.[0]));
  const kept = [4, 60].filter((x) => String(colourAt(after, x, 32)) === String(colourAt(before, x, 32)));
  expect(kept).toHaveLength(1);
  expect(tasksOf(behind).map(({ charged_micros }) => charged_micros)).toEqual([20_000, 10_000]);
  const slow = await api.make({
    model: "house-image",
    prompt: "slow",
    size: "64x48",
    sandbox: { delay_ms: 2500 },
  });
  expect(slow.status).toBe("completed");
  const failed = await api.make({
    model: "house-image",
    prompt: "bad",
    size: "64x48",
    sandbox: { outcome: "failed", delay_ms: 0 },
  });
  expect(failed.status).toBe("failed");
});

test("a circle of two instances ends, and nothing in it is charged", async () => {
  const ports = [freePort(), freePort()] as const;
  const folder = emptyFolder("circle");
  const urlOf = (port: number) => ({ url: `http://127.0.0.1:${port}` });
  const first = await startFront(urlOf(ports[1]), "none", { folder, port: ports[0], model: "house-image" });
  const key = first.firstKey();
  await first.stop();
  const second = await startFront(urlOf(ports[0]), key, { port: ports[1], model: "house-image" });
  const again = await startFront(second, second.firstKey(), { folder, port: ports[0], model: "house-image" });
  const made = await createApi(again.url, key).make({ model: "house-image", prompt: "a fox", size: "64x64" });
  expect(made).toMatchObject({ status: "failed", error_code: "LOOP_DETECTED" });
  const all = [again, second].flatMap(tasksOf);
  expect(all.length).toBeLessThan(8);
  expect(all.every(({ charged_micros: charged }) => (charged ?? 0) === 0)).toBeTrue();
});
