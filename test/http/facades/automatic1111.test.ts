import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import sharp from "sharp";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { openPublished } from "../../helpers/published.ts";
import {
  GIMP_IMG2IMG,
  GIMP_INPAINT,
  GIMP_TXT2IMG,
  KRITA_INPAINT,
  KRITA_TXT2IMG,
  OPEN_WEBUI,
  SILLYTAVERN,
} from "./automatic1111-bodies.ts";
import { type Engine, imagesOf, infoOf, objectOf, startEngine } from "./automatic1111-service.ts";

// It waits for pictures.
setDefaultTimeout(30_000);

/** Transcribed from the code of that API; checked 2026-11-27. */
const published = openPublished("a1111/openapi.json");
const SOON: JsonObject = { sandbox: { delay_ms: 0 } };
let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const txt2img = (body: JsonObject, headers: Readonly<Record<string, string>> = {}) =>
  engine.call("/sdapi/v1/txt2img", { body: { ...SOON, ...body }, headers });
const img2img = (body: JsonObject) => engine.call("/sdapi/v1/img2img", { body: { ...SOON, ...body } });

function expectPublished(name: string, value: Json): void {
  expect(published.problems(["components", "schemas", name], value)).toEqual([]);
}

/** A picture of one colour, as the base64 that clients send. */
async function picture(size: number, colour: string): Promise<string> {
  const made = sharp({ create: { width: size, height: size, channels: 3, background: colour } });
  return (await made.png().toBuffer()).toString("base64");
}

/** White in its left half. */
async function halfMask(size: number): Promise<string> {
  const black = sharp({ create: { width: size, height: size, channels: 3, background: "black" } });
  const white = { create: { width: size / 2, height: size, channels: 3, background: "white" } } as const;
  const mask = black.composite([{ input: await sharp(white).png().toBuffer(), left: 0, top: 0 }]);
  return (await mask.png().toBuffer()).toString("base64");
}

/** A picture of noise, which does not compress: its base64 is long enough to be taken out of the body while it arrives. */
async function noise(size: number): Promise<string> {
  const raw = new Uint8Array(size * size * 3);
  let state = 1;
  for (let i = 0; i < raw.length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    raw[i] = state >>> 24;
  }
  const png = await sharp(raw, { raw: { width: size, height: size, channels: 3 } })
    .png()
    .toBuffer();
  return png.toString("base64");
}

async function pixelAt(file: Uint8Array, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [...data.subarray(at, at + 3)];
}

describe("bodies of clients draw", () => {
  test.each([
    ["Open WebUI", OPEN_WEBUI, [512, 512], 1],
    ["SillyTavern", SILLYTAVERN, [512, 512], 1],
    ["Krita's plug-in", KRITA_TXT2IMG, [512, 512], 2],
    ["GIMP's plug-in", GIMP_TXT2IMG, [512, 384], 1],
  ] as const)("from a prompt: %s", async (_, body, [width, height], count) => {
    const answer = await txt2img(body);
    expect(answer.status).toBe(200);
    expectPublished("Txt2Img", body);
    expectPublished("ImagesResponse", answer.body);
    const images = imagesOf(answer);
    expect(images).toHaveLength(count);
    for (const image of images)
      expect(await sharp(image).metadata()).toMatchObject({ format: "png", width, height });
    const info = infoOf(answer);
    expect(info).toMatchObject({
      prompt: "A fox in the snow",
      width,
      height,
      sd_model_name: "sandbox-image",
    });
    expect((info.all_seeds as Json[]).length).toBe(count);
    expect((info.infotexts as Json[]).length).toBe(count);
    expect(answer.headers.get("x-request-cost")).toBe(count === 2 ? "0.020000" : "0.010000");
    expect(answer.headers.get("x-svc-adjusted")).toBeNull();
    // Some clients send the address of the engine and their credential in the body.
    expect(answer.text).not.toContain("a-secret-of-the-caller");
    expect(objectOf(objectOf(answer.body).parameters).steps).toBe(objectOf(body).steps!);
  });

  test("from a picture: GIMP's plug-in", async () => {
    const init = await picture(384, "#204080");
    const answer = await img2img({ ...GIMP_IMG2IMG, init_images: [init] });
    expectPublished("Img2Img", { ...GIMP_IMG2IMG, init_images: [init] });
    expectPublished("ImagesResponse", answer.body);
    const [image] = imagesOf(answer);
    expect(await sharp(image!).metadata()).toMatchObject({ width: 384, height: 384 });
    expect(await pixelAt(image!, 10, 10)).not.toEqual([0x20, 0x40, 0x80]);
    expect(objectOf(objectOf(answer.body).parameters).init_images).toBeNull();
  });

  test.each([
    ["Krita's", KRITA_INPAINT, 512],
    ["GIMP's", GIMP_INPAINT, 384],
  ] as const)("under a mask, where it is white: %s plug-in", async (_, body, size) => {
    const pictures = { init_images: [await picture(size, "#204080")], mask: await halfMask(size) };
    const drawn = await img2img({ ...body, ...pictures });
    expect(drawn.status).toBe(200);
    const left = await pixelAt(imagesOf(drawn)[0]!, 40, size / 2);
    const right = await pixelAt(imagesOf(drawn)[0]!, size - 40, size / 2);
    expect(left).not.toEqual([0x20, 0x40, 0x80]);
    expect(right).toEqual([0x20, 0x40, 0x80]);
    const inverted = await img2img({ ...body, ...pictures, inpainting_mask_invert: 1 });
    expect(await pixelAt(imagesOf(inverted)[0]!, 40, size / 2)).toEqual([0x20, 0x40, 0x80]);
    expect(await pixelAt(imagesOf(inverted)[0]!, size - 40, size / 2)).not.toEqual([0x20, 0x40, 0x80]);
  });
});

describe("pictures of a request", () => {
  test("may be long base64, a data URI, or an address of this service; a mask of another size is fitted", async () => {
    const bare = await noise(128);
    expect(bare.length).toBeGreaterThan(32 * 1024);
    const drawn = await img2img({ prompt: "A fox", init_images: [bare], mask: await halfMask(64) });
    expect(await sharp(imagesOf(drawn)[0]!).metadata()).toMatchObject({ width: 128, height: 128 });
    const longMask = await noise(128);
    const masked = await img2img({
      prompt: "A fox",
      init_images: [`data:image/png;base64,${bare}`],
      mask: longMask,
    });
    expect(masked.status).toBe(200);
    const task = objectOf((await engine.native(`/tasks/${drawn.headers.get("x-task-id")}`)) as Json);
    const [address] = task.result as string[];
    expect((await img2img({ prompt: "A fox", init_images: [address!] })).status).toBe(200);
  });

  test.each([
    ["none", {}, "init_images"],
    ["an empty list", { init_images: [] }, "init_images"],
    ["two", { init_images: ["a", "b"] }, "init_images"],
    ["no base64", { init_images: ["~~"] }, "init_images.0"],
    ["no picture", { init_images: ["AAAA"] }, "init_images.0"],
    ["a mask that is an address", { init_images: ["ok"], mask: "https://a.example/mask.png" }, "mask"],
    ["a mask that is no picture", { init_images: ["ok"], mask: "AAAA" }, "mask"],
    ["a long text that is no base64", { init_images: [`${"A".repeat(20_000)}~`] }, "init_images.0"],
    ["a picture in place of the prompt", { init_images: ["ok"], prompt: "ok" }, "prompt"],
  ])("are refused by name, and nothing is made: %s", async (_, given, field) => {
    const before = await engine.native("/tasks");
    const ok = await noise(100);
    const text = JSON.stringify({ prompt: "A fox", ...given }).replaceAll('"ok"', `"${ok}"`);
    const answer = await img2img(JSON.parse(text) as JsonObject);
    expect(answer.status).toBe(422);
    expectPublished("Validation", answer.body);
    const [detail] = objectOf(answer.body).detail as JsonObject[];
    expect((detail!.loc as Json[]).join(".")).toBe(`body.${field}`);
    expect(await engine.native("/tasks")).toEqual(before);
  });
});

describe("what a picture says of itself", () => {
  test("is in a PNG, and is read back by png-info", async () => {
    const answer = await txt2img({ prompt: "A fox,\nred", negative_prompt: "blue", seed: 7, steps: 12 });
    const [image] = imagesOf(answer);
    const { infotexts, seed, svc } = infoOf(answer);
    expect(seed).toBe(7);
    // The sandbox has neither steps nor negative prompts.
    expect(objectOf(svc).ignored).toEqual(["negative_prompt", "steps"]);
    const read = await engine.call("/sdapi/v1/png-info", {
      body: { image: Buffer.from(image!).toString("base64") },
    });
    const { info, items, parameters } = objectOf(read.body);
    expect(info).toBe((infotexts as Json[])[0]!);
    expect(objectOf(items).parameters).toBe(info!);
    expect(parameters).toMatchObject({
      Prompt: "A fox,\nred",
      Seed: "7",
      Size: "1024x1024",
      Model: "sandbox-image",
    });
    expect(await sharp(image!).metadata()).toMatchObject({ format: "png" });
    const none = await engine.call("/sdapi/v1/png-info", { body: { image: await picture(8, "red") } });
    expect(none.body).toEqual({ info: "", items: {}, parameters: {} });
    const wrong = await engine.call("/sdapi/v1/png-info", { body: { image: "~" } });
    expect(wrong.status).toBe(422);
  });

  test("is in another alphabet where the prompt is", async () => {
    const image = imagesOf(await txt2img({ prompt: "лиса 🦊" }))[0]!;
    const read = await engine.call("/sdapi/v1/png-info", {
      body: { image: Buffer.from(image).toString("base64") },
    });
    expect(objectOf(objectOf(read.body).parameters).Prompt).toBe("лиса 🦊");
  });

  test("is not written where the answer is in another format, or nothing is sent", async () => {
    const webp = await txt2img({ prompt: "A fox", override_settings: { samples_format: "webp" } });
    expect(await sharp(imagesOf(webp)[0]!).metadata()).toMatchObject({ format: "webp" });
    const none = await txt2img({ prompt: "A fox", send_images: false });
    expect(objectOf(none.body).images).toEqual([]);
    expect(infoOf(none).infotexts).toHaveLength(1);
    expect(none.headers.get("x-request-cost")).toBe("0.010000");
  });
});

test("a seed that is left to chance is drawn, told, and gives the same picture again", async () => {
  const [one, other] = [
    await txt2img({ prompt: "A fox", width: 64, height: 64 }),
    await txt2img({ prompt: "A fox", width: 64, height: 64 }),
  ];
  const { seed } = infoOf(one);
  expect(Number(seed)).toBeGreaterThanOrEqual(0);
  expect(infoOf(other).seed).not.toBe(seed!);
  const again = await txt2img({ prompt: "A fox", width: 64, height: 64, seed: seed! });
  expect(objectOf(again.body).images).toEqual(objectOf(one.body).images!);
});

test.each([
  ["enable_hr", { enable_hr: true, hr_upscaler: "Latent" }],
  ["alwayson_scripts.controlnet", { alwayson_scripts: { controlnet: { args: [] } } }],
  ["script_name", { script_name: "X/Y/Z plot" }],
  ["tiling", { tiling: true }],
  ["restore_faces", { restore_faces: true }],
  ["subseed_strength", { subseed_strength: 0.2 }],
  ["refiner_checkpoint", { refiner_checkpoint: "sdxl_refiner" }],
  ["controlnet_units", { controlnet_units: [{ module: "canny" }] }],
  ["steps", { steps: "many" }],
  ["width", { width: 0 }],
  ["width", { width: 9000, height: 9000 }],
  ["batch_size", { batch_size: 11 }],
  ["n_iter", { n_iter: 11 }],
  ["prompt", { prompt: "" }],
])("%s that nothing can do is refused by that name", async (field, given) => {
  const answer = await txt2img({ prompt: "A fox", ...given });
  expect(answer.status).toBe(422);
  expectPublished("Validation", answer.body);
  const [detail] = objectOf(answer.body).detail as JsonObject[];
  expect(detail!.loc).toEqual(["body", ...field.split(".")]);
  expect(String(detail!.msg)).toContain(field);
});

test("what clients always send, off or in texts, refuses nothing", async () => {
  const off = {
    ...{
      prompt: "A fox",
      width: "64",
      height: "64",
      script_name: "None",
      refiner_checkpoint: "none",
      tiling: null,
    },
    ...{
      alwayson_scripts: {},
      script_args: [],
      styles: [],
      controlnet_units: [],
      sampler_index: "Euler",
      eta: null,
    },
  };
  const answer = await txt2img(off);
  expect(answer.status).toBe(200);
  expect(objectOf(infoOf(answer).svc).ignored).toEqual(["sampler_name"]);
});
