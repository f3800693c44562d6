import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
import type { JsonObject } from "../../../src/domain/json.ts";
import { png } from "../../helpers/media.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

setDefaultTimeout(30_000);

const SIDE = 64;
let service: PublishedService;
let elsewhere: Bun.Server<undefined>;
let image: string;
/** The left half may change: white there, or transparent. */
let white: Buffer;
let clear: Buffer;

/** A mask whose halves are these colours. */
async function halves(left: string, right: string, encode: "png" | "jpeg" = "png"): Promise<Buffer> {
  const half = { width: SIDE / 2, height: SIDE, channels: 4 as const };
  const [one, other] = await Promise.all(
    [left, right].map((background) =>
      sharp({ create: { ...half, background } })
        .png()
        .toBuffer(),
    ),
  );
  const whole = sharp({ create: { ...half, width: SIDE, background: "#0000" } }).composite([
    { input: one as Buffer, left: 0, top: 0 },
    { input: other as Buffer, left: SIDE / 2, top: 0 },
  ]);
  return encode === "png" ? whole.png().toBuffer() : whole.flatten().jpeg({ quality: 100 }).toBuffer();
}

const uri = (bytes: Uint8Array, type = "image/png") =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

beforeAll(async () => {
  service = await startPublished({ SVC_EGRESS_ALLOW: "127.0.0.1/32", SVC_SCHEDULER_CONCURRENCY: "8" });
  image = uri(await png(SIDE, SIDE));
  [white, clear] = await Promise.all([halves("#fff", "#000"), halves("#0000", "#000")]);
  elsewhere = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(new Uint8Array(white), { headers: { "Content-Type": "image/png" } }),
  });
});

afterAll(async () => {
  await elsewhere.stop(true);
  await service.stop();
});

async function post(path: string, body: JsonObject, authorization: string) {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { Authorization: authorization, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const asked = () => ({ prompt: "A hat", image_url: image, seed: 7, sandbox: { delay_ms: 0 } });

/** How a mask comes in each API. @returns the id of the task, or the refusal */
const apis = {
  async native(mask: string) {
    const body = { model: "sandbox-image", ...asked(), mask_url: mask };
    const answer = await post("/v1/images/generations", body, `Bearer ${service.key}`);
    return { ...answer, id: String((answer.body.data as JsonObject | undefined)?.task_id) };
  },
  async fal(mask: string) {
    const body = { ...asked(), mask_url: mask };
    const answer = await post("/fal/queue/svc/sandbox-image", body, `Key ${service.key}`);
    return { ...answer, id: String(answer.body.request_id) };
  },
  async replicate(mask: string) {
    const body = { input: { ...asked(), mask } };
    const path = "/replicate/v1/models/svc/sandbox-image/predictions";
    const answer = await post(path, body, `Bearer ${service.key}`);
    return { ...answer, id: String(answer.body.id) };
  },
};
type Api = keyof typeof apis;

/** The pixels of what a mask makes; the one sharp-edged half is the same, wherever the mask came from. */
async function made(api: Api, mask: string): Promise<string> {
  const { id, body } = await apis[api](mask);
  const task = await service.untilEnded(id);
  if (task.status !== "completed") throw new Error(JSON.stringify([body, task]));
  return contentOf(task);
}

async function contentOf(task: JsonObject): Promise<string> {
  const [result] = task.result as string[];
  return Bun.hash(await (await fetch(String(result))).bytes()).toString(16);
}

async function uploaded(bytes: Buffer, type = "image/png"): Promise<string> {
  const response = await fetch(`${service.url}/v1/files`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.key}`, "Content-Type": type },
    body: new Uint8Array(bytes),
  });
  return String(((await response.json()) as { data: JsonObject }).data.url);
}

test.each(["fal", "replicate"] as const)(
  "a mask that comes by %s's API is white where to change, or transparent there, however it is given",
  async (api) => {
    const wanted = await made("native", uri(clear));
    expect(await made("native", uri(await halves("#000", "#0000")))).not.toBe(wanted);
    const ways = {
      "transparent, inline": uri(clear),
      "white, inline": uri(white),
      "white, uploaded": await uploaded(white),
      "white, at an address elsewhere": `${elsewhere.url}mask.png`,
      "white, as JPEG": uri(await halves("#fff", "#000", "jpeg"), "image/jpeg"),
    };
    for (const [way, mask] of Object.entries(ways))
      expect([way, await made(api, mask)]).toEqual([way, wanted]);
  },
);

test("a mask that comes by Gemini's API is white where to change, also when it is given by its address", async () => {
  const [, content = ""] = image.split(",");
  const wanted = await made("native", uri(clear));
  const masks = [
    { bytesBase64Encoded: white.toString("base64") },
    { gcsUri: await uploaded(white) },
    { gcsUri: `${elsewhere.url}mask.png` },
  ];
  for (const mask of masks) {
    const referenceImages = [
      { referenceType: "REFERENCE_TYPE_RAW", referenceImage: { bytesBase64Encoded: content } },
      { referenceType: "REFERENCE_TYPE_MASK", referenceImage: mask },
    ];
    const { prompt, seed, sandbox } = asked();
    const parameters = { sampleCount: 1, seed, sandbox };
    const body = { instances: [{ prompt, referenceImages }], parameters };
    const answer = await post("/gemini/v1beta/models/sandbox-image:predict", body, `Bearer ${service.key}`);
    const [prediction] = answer.body.predictions as { bytesBase64Encoded: string }[];
    expect(Bun.hash(Buffer.from(prediction?.bytesBase64Encoded ?? "", "base64")).toString(16)).toBe(wanted);
  }
});

test("a task that ended before its white mask was fetched has it when it is tried again", async () => {
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("", { status: 404 }) });
  const port = Number(gone.port);
  const { id } = await apis.fal(`http://127.0.0.1:${port}/mask.png`);
  expect((await service.untilEnded(id)).status).toBe("failed");
  await gone.stop(true);
  const there = Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response(new Uint8Array(white)) });
  const again = await post(`/v1/tasks/${id}/retry`, {}, `Bearer ${service.key}`);
  const task = await service.untilEnded(String((again.body.data as JsonObject).task_id));
  expect(await contentOf(task)).toBe(await made("native", uri(clear)));
  await there.stop(true);
});

test("a white mask is none in the service's own API, whether or not it has an alpha channel", async () => {
  const without = await sharp(white).flatten().png().toBuffer();
  for (const mask of [uri(without), uri(white), await uploaded(white)]) {
    const { status, body } = await apis.native(mask);
    expect([status, (body.data as JsonObject).param, body.message]).toEqual([
      ...[400, "mask_url"],
      "mask_url must have transparent areas, which say where the image is changed.",
    ]);
  }
  const { id } = await apis.native(`${elsewhere.url}mask.png`);
  const task = await service.untilEnded(id);
  expect([task.status, task.error_code, task.error_message]).toEqual([
    ...["failed", "INPUT_INVALID"],
    "mask_url must have transparent areas, which say where the image is changed.",
  ]);
});

test("a mask that was painted black all over changes nothing, also when its task is tried again", async () => {
  const { id } = await apis.fal(uri(await halves("#000", "#000")));
  expect((await service.untilEnded(id)).status).toBe("completed");
  const again = await post(`/v1/tasks/${id}/retry`, {}, `Bearer ${service.key}`);
  const task = await service.untilEnded(String((again.body.data as JsonObject).task_id));
  expect(task.status).toBe("completed");
});

test("a mask of another size than the image is none anywhere", async () => {
  const small = uri(await sharp(white).resize(16, 16).png().toBuffer());
  const [fal, replicate] = await Promise.all([apis.fal(small), apis.replicate(small)]);
  expect([fal.status, JSON.stringify(fal.body)]).toEqual([422, expect.stringContaining("mask_url")]);
  expect([replicate.status, JSON.stringify(replicate.body)]).toEqual([
    422,
    expect.stringContaining("input.mask"),
  ]);
});
