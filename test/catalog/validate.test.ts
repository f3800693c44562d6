import { expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { createManifestReader } from "../../src/catalog/read-manifest.ts";
import { createValidator } from "../../src/catalog/validate.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";

const catalog = createCatalog();
const A = "https://example.com/a.png";

function validate(id: string, body: JsonObject) {
  return catalog.validate(catalog.find(id)!, { model: id, ...body });
}

/** As a caller of /v1 reads it. */
function refusal(id: string, body: JsonObject) {
  const validated = validate(id, body);
  if (validated.ok) throw new Error("Not refused");
  const { message, param } = new AppError("invalid_request", validated.facts);
  return { message, param };
}

test("defaults are filled into a copy, and nothing else is changed", () => {
  const given = { model: "sandbox-image", prompt: "A fox", sandbox: { delay_ms: 0 } };
  const before = structuredClone(given);
  const validated = catalog.validate(catalog.find("sandbox-image")!, given);
  expect(validated).toEqual({ ok: true, body: { ...given, n: 1, output_format: "png" } });
  expect(given).toEqual(before);
});

test.each([
  ["sandbox-image", { prompt: "x".repeat(4000) }],
  ["sandbox-image", { prompt: "🦊".repeat(4000) }],
  ["sandbox-image", { prompt: "A", size: "4096x4096", n: 10, seed: 2 ** 32 - 1 }],
  ["sandbox-image", { prompt: "A", size: "auto", quality: "hd", background: "opaque" }],
  ["sandbox-image", { prompt: "A", aspect_ratio: "21:9", resolution: "2K" }],
  ["sandbox-image", { prompt: "A", image_urls: Array(10).fill(A), mask_url: A }],
  ["sandbox-image", { prompt: "A", image_url: "data:image/png;base64,AAAA" }],
  ["sandbox-image", { prompt: "A", callback_url: "http://192.168.0.1:9000/x" }],
  [
    "sandbox-image",
    { prompt: "A", sandbox: { outcome: "failed", error_code: "UPSTREAM_TIMEOUT", fail_times: 0 } },
  ],
  ["sandbox-video", { prompt: "A", task_id: "task_x", index: 0 }],
  ["sandbox-video", { prompt: "A", image_urls: [A, A], duration: 10, resolution: "720p" }],
  ["sandbox-video-frames", { first_frame_url: A }],
  ["sandbox-video-reference", { prompt: "A", reference_image_urls: Array(5).fill(A) }],
  ["sandbox-video-edit", { video_url: A, operation: "extend", duration: 3 }],
  ["sandbox-video-motion", { image_url: A, motion_video_url: A }],
] as [string, JsonObject][])("%s takes request %#", (id, body) => {
  expect(validate(id, body)).toMatchObject({ ok: true });
});

test("what a model does anyway may be asked for, and is not in what is made of it", () => {
  const taken = validate("veo3.1", { prompt: "A fox", generate_audio: true });
  expect(taken).toMatchObject({ ok: true });
  expect(taken.ok && Object.keys(taken.body)).not.toContain("generate_audio");
  expect(refusal("veo3.1", { prompt: "A fox", generate_audio: false })).toEqual({
    message: "generate_audio must be true, got false.",
    param: "generate_audio",
  });
});

test.each([
  ["sandbox-image", {}, "prompt", "prompt is required by sandbox-image."],
  ["sandbox-image", { promt: "A" }, "promt", 'Unknown field "promt". Did you mean "prompt"?'],
  [
    "sandbox-image",
    { prompt: "A", sandbox: { delayMs: 1 } },
    "sandbox.delayMs",
    'Unknown field "sandbox.delayMs". Did you mean "sandbox.delay_ms"?',
  ],
  [
    "sandbox-image",
    { prompt: "A", sandbox: { colour: 1 } },
    "sandbox.colour",
    'Unknown field "sandbox.colour". sandbox takes delay_ms, outcome, error_code, fail_times, outputs_lost.',
  ],
  ["sandbox-image", { prompt: "" }, "prompt", "prompt must have 1 to 4000 characters; got 0."],
  [
    "sandbox-image",
    { prompt: "🦊".repeat(4001) },
    "prompt",
    "prompt must have 1 to 4000 characters; got 4001.",
  ],
  ["sandbox-image", { prompt: null }, "prompt", "prompt must be a string; got null."],
  ["sandbox-image", { prompt: { text: "A" } }, "prompt", "prompt must be a string; got an object."],
  ["sandbox-image", { prompt: "A", n: "3" }, "n", 'n must be an integer; got "3".'],
  ["sandbox-image", { prompt: "A", n: 1.5 }, "n", "n must be an integer; got 1.5."],
  ["sandbox-image", { prompt: "A", n: 11 }, "n", "n must be 1 to 10; got 11."],
  ["sandbox-image", { prompt: "A", seed: -1 }, "seed", "seed must be 0 to 4294967295; got -1."],
  [
    "sandbox-image",
    { prompt: "A", output_format: "gif" },
    "output_format",
    'output_format must be one of "png", "jpeg", "webp"; got "gif".',
  ],
  [
    "sandbox-image",
    { prompt: "A", quality: "z".repeat(90) },
    "quality",
    `quality must be one of "auto", "low", "medium", "high", "standard", "hd"; got "${"z".repeat(80)}…".`,
  ],
  [
    "sandbox-image",
    { prompt: "A", size: "4097x1" },
    "size",
    'size must be "<width>x<height>" with sides of 1 to 4096 pixels, or "auto"; got "4097x1".',
  ],
  [
    "sandbox-image",
    { prompt: "A", size: "0x16" },
    "size",
    'size must be "<width>x<height>" with sides of 1 to 4096 pixels, or "auto"; got "0x16".',
  ],
  [
    "sandbox-image",
    { prompt: "A", size: "1x1", aspect_ratio: "1:1" },
    "aspect_ratio",
    "Give size or aspect_ratio with resolution, not both.",
  ],
  [
    "sandbox-image",
    { prompt: "A", size: "auto", resolution: "1K" },
    "resolution",
    "Give size or aspect_ratio with resolution, not both.",
  ],
  [
    "sandbox-image",
    { prompt: "A", mask_url: A },
    "mask_url",
    "mask_url is valid only together with image_url or image_urls.",
  ],
  [
    "sandbox-image",
    { prompt: "A", image_url: A, image_urls: [A] },
    "image_urls",
    "Give image_url or image_urls, not both.",
  ],
  [
    "sandbox-image",
    { prompt: "A", image_urls: [] },
    "image_urls",
    "image_urls must have 1 to 10 entries; got 0.",
  ],
  [
    "sandbox-image",
    { prompt: "A", image_urls: Array(11).fill(A) },
    "image_urls",
    "image_urls must have 1 to 10 entries; got 11.",
  ],
  [
    "sandbox-image",
    { prompt: "A", image_urls: [A, A, 7] },
    "image_urls[2]",
    "image_urls[2] must be an https URL, a base64 data URI, or the id of an uploaded file; got 7.",
  ],
  [
    "sandbox-image",
    { prompt: "A", image_url: "cat.png" },
    "image_url",
    'image_url must be an https URL, a base64 data URI, or the id of an uploaded file; got "cat.png".',
  ],
  [
    "sandbox-image",
    { prompt: "A", callback_url: "/hook" },
    "callback_url",
    'callback_url must be an absolute URL of at most 2048 characters; got "/hook".',
  ],
  ["sandbox-image", { prompt: "A", sandbox: [] }, "sandbox", "sandbox must be an object; got a list."],
  [
    "sandbox-image",
    { prompt: "A", sandbox: { delay_ms: 3_600_001 } },
    "sandbox.delay_ms",
    "sandbox.delay_ms must be 0 to 3600000; got 3600001.",
  ],
  [
    "sandbox-image",
    { prompt: "A", sandbox: { outputs_lost: 1 } },
    "sandbox.outputs_lost",
    "sandbox.outputs_lost must be true or false; got 1.",
  ],
  [
    "sandbox-image",
    { prompt: "A", sandbox: { error_code: "UPSTREAM_ERROR" } },
    "sandbox.error_code",
    'sandbox.error_code is valid only together with sandbox.outcome "failed".',
  ],
  ["sandbox-video", { prompt: "A", index: 0 }, "index", "index is valid only together with task_id."],
  [
    "sandbox-video",
    { prompt: "A", task_id: "task_x", image_url: A },
    "task_id",
    "Give exactly one of image_url (or image_urls) and task_id, not both.",
  ],
  [
    "sandbox-video",
    { prompt: "A", task_id: "task_x", image_urls: [A] },
    "task_id",
    "Give exactly one of image_url (or image_urls) and task_id, not both.",
  ],
  ["sandbox-video", { prompt: "A", duration: 11 }, "duration", "duration must be 1 to 10; got 11."],
  [
    "sandbox-video-frames",
    { last_frame_url: A },
    "first_frame_url",
    "first_frame_url is required by sandbox-video-frames.",
  ],
  [
    "sandbox-video-reference",
    { prompt: "A", reference_image_urls: Array(6).fill(A) },
    "reference_image_urls",
    "reference_image_urls must have 1 to 5 entries; got 6.",
  ],
  [
    "sandbox-video-edit",
    { video_url: A, duration: 3 },
    "duration",
    'duration is valid only together with operation "extend".',
  ],
] as [string, JsonObject, string, string][])("%s refuses request %#, %s", (id, body, param, message) => {
  expect(refusal(id, body)).toEqual({ param, message });
});

test("names that objects inherit are as unknown as any other", () => {
  for (const name of ["__proto__", "constructor", "toString"]) {
    const body: JsonObject = JSON.parse(`{"prompt":"A",${JSON.stringify(name)}:1}`);
    expect(refusal("sandbox-image", body).param).toBe(name);
  }
});

test("a message cut at 80 characters leaves no half of a character", () => {
  const { message } = refusal("sandbox-image", { prompt: "A", quality: `${"z".repeat(79)}🦊` });
  expect(message.isWellFormed()).toBe(true);
});

test("a whole number that JSON would round is refused, also where an operator's manifest allows it", () => {
  const manifest = {
    ...{
      id: "m",
      kind: "image",
      name: "M",
      description: "A model.",
      modes: [{ id: "text-to-image", requires: [] }],
    },
    schema: {
      required: ["prompt"],
      properties: {
        prompt: { type: "string" },
        seed: { type: "integer", minimum: 0, maximum: 2 ** 64 },
        steps: { type: ["integer", "null"] },
        weight: { type: "number" },
      },
    },
    price: { version: "1", lines: [{ sku: "m", unit: "output", amount: "0.010000" }] },
    deadline_seconds: 120,
    routes: [{ provider: "sandbox", upstream_model: "picture" }],
  };
  const { model } = createManifestReader().read("m.yaml", JSON.stringify(manifest));
  const { validate } = createValidator();
  const withField = (field: string) => validate(model, JSON.parse(`{"model":"m","prompt":"A",${field}}`));
  for (const name of ["seed", "steps"]) {
    const validated = withField(`"${name}": 9007199254740993`);
    if (validated.ok) throw new Error("Not refused");
    expect(new AppError("invalid_request", validated.facts)).toMatchObject({
      ...{ param: name },
      message: `${name} must be a whole number up to 9007199254740991, because larger ones are rounded in JSON.`,
    });
  }
  for (const exact of [`"seed": 9007199254740991`, `"steps": null`, `"steps": -3`, `"weight": 1e17`])
    expect(withField(exact)).toMatchObject({ ok: true });
});
