import { describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Model, Route } from "../../src/domain/model/model.ts";
import { namesFrom } from "../../src/domain/words/say.ts";
import type { Facts } from "../../src/domain/words/words.ts";
import { type CompatRequest, fromCompat } from "../../src/service/compat-request.ts";
import { MODEL } from "../helpers/engine.ts";

const A = "https://example.com/a.png";
const FULL = {
  prompt: { type: "string" },
  n: { type: "integer" },
  size: { type: "string" },
  quality: { type: "string", enum: ["low", "medium", "high"] },
  background: { type: "string", enum: ["auto", "opaque", "transparent"] },
  output_format: { type: "string", enum: ["png", "jpeg"] },
  seed: { type: "integer" },
  strength: { type: "number" },
  upscale: { type: "boolean" },
  extra: { type: "object" },
  image_url: { type: "string" },
  image_urls: { type: "array" },
  mask_url: { type: "string" },
} as const;
const MEDIA: Model["mediaFields"] = [
  { name: "image_url", role: "image", media: "image" },
  { name: "image_urls", role: "image", media: "image" },
  { name: "mask_url", role: "mask", media: "image" },
];

const model = (properties: JsonObject, mediaFields: Model["mediaFields"] = []): Model => ({
  ...MODEL,
  schema: { type: "object", properties },
  mediaFields,
});
const full = model(FULL, MEDIA);
const bare = model({ prompt: { type: "string" } });

const bodyOf = (of: Model, fields: JsonObject, more: Partial<CompatRequest> = {}) => {
  const { model: _, ...body } = fromCompat(
    { model: of, routes: of.routes },
    {
      fields: { prompt: "x", ...fields },
      isText: false,
      images: [],
      ...more,
    },
  ).body;
  return body;
};
const refusal = (of: Model, fields: JsonObject, more: Partial<CompatRequest> = {}) => {
  try {
    bodyOf(of, fields, more);
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, param: error.param, message: error.message };
  }
  throw new Error("not refused");
};

test("fields the model has go through as they are, and unknown ones are left out", () => {
  const fields = {
    n: 2,
    size: "1024x768",
    seed: 0,
    style: "vivid",
    user: "u",
    callback_url: "https://x.example",
  };
  expect(bodyOf(full, fields)).toEqual({ prompt: "x", n: 2, size: "1024x768", seed: 0 });
});

test("auto is unset, whatever the field", () => {
  expect(bodyOf(full, { size: "auto", quality: "auto", background: "auto" })).toEqual({ prompt: "x" });
  expect(bodyOf(bare, { size: "auto", quality: "auto", background: "auto" })).toEqual({ prompt: "x" });
});

test("qualities of other models become the nearest the model has", () => {
  expect(bodyOf(full, { quality: "hd" }).quality).toBe("high");
  expect(bodyOf(full, { quality: "max" }).quality).toBe("high");
  expect(bodyOf(full, { quality: "low" }).quality).toBe("low");
  expect(bodyOf(full, { quality: "standard" }).quality).toBeUndefined();
  expect(bodyOf(full, { quality: "toString" }).quality).toBeUndefined();
  expect(bodyOf(bare, { quality: "hd" }).quality).toBeUndefined();
});

test("a size becomes the nearest that a route takes, not one that only others take", () => {
  const route = MODEL.routes[0] as Route;
  const of = (properties: JsonObject, ...only: Route["only"][]): Model => ({
    ...model({ prompt: {}, ...properties }),
    routes: only.map((limits) => ({ ...route, only: limits })),
  });
  const size = { enum: ["512x512", "1024x1024", "2048x2048"] };
  const small = { size: { enum: ["512x512"] } };
  expect(bodyOf(of({ size }, small), { size: "2048x2048" }).size).toBe("512x512");
  expect(bodyOf(of({ size }, small, { size: { enum: ["2048x2048"] } }), { size: "2048x2048" }).size).toBe(
    "2048x2048",
  );
  const shapes = of(
    { aspect_ratio: { enum: ["1:1", "16:9"] }, resolution: { enum: ["1K", "4K"] } },
    { aspect_ratio: { enum: ["1:1"] }, resolution: { enum: ["1K"] } },
  );
  expect(bodyOf(shapes, { size: "4096x2304" })).toMatchObject({ aspect_ratio: "1:1", resolution: "1K" });
});

test("a model without sizes gets the proportions and the resolution of the size asked for", () => {
  const ratios = model({
    prompt: {},
    aspect_ratio: { enum: ["1:1", "16:9"] },
    resolution: { enum: ["1K", "2K"] },
  });
  expect(bodyOf(ratios, { size: "1792x1024" })).toEqual({
    prompt: "x",
    aspect_ratio: "16:9",
    resolution: "1K",
  });
  expect(bodyOf(ratios, { size: "2048x2048" })).toEqual({
    prompt: "x",
    aspect_ratio: "1:1",
    resolution: "2K",
  });
  expect(bodyOf(ratios, { size: "1000x300" })).toEqual({
    prompt: "x",
    aspect_ratio: "16:9",
    resolution: "1K",
  });
  expect(refusal(ratios, { size: "large" })).toMatchObject({ code: "invalid_request", param: "size" });
  expect(bodyOf(bare, { size: "512x512" })).toEqual({ prompt: "x" });
});

test("a size that the model does not take becomes the nearest by proportions, then by area", () => {
  const listed = model({ size: { enum: ["auto", "1024x1024", "512x512", "1536x1024", "1024x1536"] } });
  const taken = {
    "1024x1024": "1024x1024",
    "600x600": "512x512",
    "2048x2048": "1024x1024",
    "1792x1024": "1536x1024",
    "100x900": "1024x1536",
    large: "large",
  };
  for (const [size, expected] of Object.entries(taken)) expect(bodyOf(listed, { size }).size).toBe(expected);
  const limited = model({ size: { pattern: "^[1-9][0-9]{0,2}x[1-9][0-9]{0,2}$" } });
  expect(bodyOf(limited, { size: "640x480" }).size).toBe("640x480");
  // Limits of free sizes are for the model's schema to tell.
  expect(bodyOf(limited, { size: "1998x999" }).size).toBe("1998x999");
});

test("what a model cannot do at all is refused by the name the caller used", () => {
  expect(refusal(bare, { background: "transparent" }).param).toBe("background");
  expect(bodyOf(bare, { background: "opaque" })).toEqual({ prompt: "x" });
  expect(refusal(bare, { output_format: "gif" }).param).toBe("output_format");
  expect(refusal(bare, { n: 2 }).param).toBe("n");
  expect(bodyOf(bare, { n: 1 })).toEqual({ prompt: "x" });
  expect(refusal(bare, {}, { images: ["upload:0"] }).param).toBe("model");
});

test("a prompt is counted in characters, not in UTF-16 units", () => {
  expect(bodyOf(full, { prompt: "🦊".repeat(4000) }).prompt).toHaveLength(8000);
  for (const prompt of ["", "x".repeat(4001), 7]) expect(refusal(full, { prompt }).param).toBe("prompt");
});

test("images go to the field that holds as many, and a mask to the model that takes one", () => {
  expect(bodyOf(full, {}, { images: ["a:1"], mask: "a:m" })).toEqual({
    prompt: "x",
    image_url: "a:1",
    mask_url: "a:m",
  });
  expect(bodyOf(full, {}, { images: ["a:1", "a:2"] })).toEqual({ prompt: "x", image_urls: ["a:1", "a:2"] });
  const single = model({ prompt: {}, image_url: { type: "string" } }, MEDIA.slice(0, 1));
  expect(bodyOf(single, {}, { images: ["a:1"], mask: "a:m" })).toEqual({ prompt: "x", image_url: "a:1" });
  expect(refusal(single, {}, { images: ["a:1", "a:2"] }).param).toBe("image");
});

test("the text of a form is read as what the model takes", () => {
  const fields = { n: "2", seed: "7", strength: "0.5", upscale: "false", extra: '{"a":1}', size: "1x1" };
  expect(bodyOf(full, fields, { isText: true })).toEqual({
    ...{ prompt: "x", n: 2, seed: 7, strength: 0.5, upscale: false, extra: { a: 1 }, size: "1x1" },
  });
  expect(bodyOf(full, { n: "two" }, { isText: true }).n).toBe("two");
  expect(refusal(full, { extra: "{" }, { isText: true }).param).toBe("extra");
});

test("an error about a model's field is told in the caller's words", () => {
  const { names } = fromCompat(
    { model: full, routes: [] },
    {
      fields: { prompt: "x" },
      isText: false,
      images: ["a:1", "a:2"],
      mask: "a:m",
    },
  );
  const told = (facts: Facts) => new AppError("invalid_request", facts).renamed(namesFrom(names));
  const error = told({ kind: "finding", field: "image_urls[1]", finding: "is empty" });
  expect(error.message).toBe("image[1] is empty.");
  expect(error.param).toBe("image[1]");
  const other = told({ kind: "finding", field: "size", finding: "is odd" });
  expect([other.message, other.param]).toEqual(["size is odd.", "size"]);
});

describe("a request to gpt-image-1.5 whose fields do not go together", () => {
  const catalog = createCatalog();
  const gptImage = catalog.find("gpt-image-1.5")!;
  const told = (fields: JsonObject, edit: Partial<CompatRequest>) => {
    const request = { fields: { prompt: "x", ...fields }, isText: false, images: [], ...edit };
    const { body, names } = fromCompat({ model: gptImage, routes: gptImage.routes }, request);
    const validated = catalog.validate(gptImage, body);
    if (validated.ok) throw new Error("not refused");
    const { param, message } = new AppError("invalid_request", validated.facts).renamed(namesFrom(names));
    return { param, message };
  };
  const ONE = { images: [A] };
  const TWO = { images: [A, A] };
  const LISTED = { images: [A], imagesName: "images" };

  test.each([
    [{ moderation: "low" }, ONE, "moderation", "moderation cannot be chosen together with image."],
    [{ moderation: "low" }, TWO, "moderation", "moderation cannot be chosen together with image."],
    [{ moderation: "low" }, LISTED, "moderation", "moderation cannot be chosen together with images."],
    [{ moderation: "bogus" }, {}, "moderation", 'moderation must be one of "auto", "low"; got "bogus".'],
    [{ image_urls: [A] }, ONE, "image_urls", "Give image[0] or image_urls, not both."],
  ] as [JsonObject, Partial<CompatRequest>, string, string][])(
    "as an edit, %j is refused in the caller's names, %#",
    (fields, edit, param, message) => {
      expect(told(fields, edit)).toEqual({ param, message });
    },
  );

  test.each(["input_fidelity", "mask_url"])(
    "as a generation, %s is refused with fields it can have",
    (name) => {
      const message = `${name} is valid only together with image_url or image_urls.`;
      expect(told({ [name]: name === "mask_url" ? A : "low" }, {})).toEqual({ param: name, message });
    },
  );
});

test("early versions are asked for by a stream alone, of a model that has them, and its schema decides how many", () => {
  const partial = model({ prompt: {}, partial_images: { type: "integer", minimum: 0, maximum: 3 } });
  const streamed = { stream: true, partial_images: 2 };
  expect(bodyOf(partial, streamed)).toEqual({ prompt: "x", partial_images: 2 });
  expect(bodyOf(partial, { stream: "true", partial_images: "3" }, { isText: true }).partial_images).toBe(3);
  expect(bodyOf(partial, { stream: true, partial_images: "many" }).partial_images).toBe("many");
  for (const fields of [
    { partial_images: 2 },
    { stream: false, partial_images: 2 },
    { stream: true },
    { stream: "false", partial_images: "2" },
  ]) {
    expect(bodyOf(partial, fields)).toEqual({ prompt: "x" });
  }
  expect(bodyOf(full, streamed)).toEqual({ prompt: "x" });
});
