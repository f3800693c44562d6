import { describe, expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import { AppError } from "../../../src/domain/errors.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Model } from "../../../src/domain/model/model.ts";
import { namesFrom } from "../../../src/domain/words/say.ts";
import { fromForeign } from "../../../src/http/facades/foreign-input.ts";

const built = createCatalog();
/** The catalogue's models, with every route. */
const catalog = { routes: (model: Model) => model.routes, validate: built.validate };

const modelOf = (id: string): Model => {
  const model = built.all().find((each) => each.id === id);
  if (model === undefined) throw new Error(`There is no ${id}.`);
  return model;
};

const translate = (id: string, fields: JsonObject, provider?: string) => {
  const model = modelOf(id);
  const route = model.routes.find((each) => each.provider === provider);
  return fromForeign(catalog, model, { fields, at: "input.", route });
};
const bodyOf = (id: string, fields: JsonObject, provider?: string) => {
  const { model: _, ...body } = translate(id, fields, provider).body;
  return body;
};
const refusal = (make: () => unknown) => {
  try {
    make();
  } catch (error) {
    if (error instanceof AppError) return { kind: error.facts.kind, param: error.param };
  }
  throw new Error("not refused");
};

const A = "https://example.org/a.png";
const B = "https://example.org/b.png";

const WITH_HAILUO = { enhance_prompt: true, resolution: "768p" };

describe("a field", () => {
  test.each([
    // By the wording of a route, reversed: names, values and templates.
    ["flux-schnell", "replicate", { num_outputs: 2, output_format: "jpg" }, { n: 2, output_format: "jpeg" }],
    ["flux-kontext-pro", "replicate", { input_image: A }, { image_url: A }],
    ["veo3", "fal", { duration: "8s", image_url: A }, { duration: 8, image_url: A }],
    ["flux-schnell", "replicate", { megapixels: "1" }, {}],
    // A size that the route has no word for, as of a model without that route.
    ["flux-dev", "fal", { image_size: { width: 1024, height: 768 } }, { aspect_ratio: "4:3" }],
    ["flux-dev", "fal", { image_size: "1000x500" }, { aspect_ratio: "16:9" }],
    ["flux-dev", undefined, { image_size: "1000x500" }, { aspect_ratio: "16:9" }],
    // By the model's own name, in the type that it has.
    ["sandbox-image", undefined, { seed: "7", output_format: "jpg" }, { seed: 7, output_format: "jpeg" }],
    ["kling-v3-pro", "fal", { duration: "5" }, { duration: 5 }],
    ["sandbox-image", undefined, { prompt: 7 }, { prompt: 7 }],
    ["ideogram-3", undefined, { rendering_speed: "BALANCED" }, { rendering_speed: "default" }],
    ["ideogram-3-character", undefined, { style: "AUTO" }, { style_type: "AUTO" }],
    ["wan-2.6", undefined, { multi_shots: true }, { shot_type: "multi" }],
    ["wan-2.6", undefined, { multi_shots: false }, { shot_type: "single" }],
    // What leaves the choice to a model that has none.
    ["grok-imagine-video-edit", undefined, { resolution: "auto" }, {}],
    ["kling-v3-image", undefined, { output_format: "" }, {}],
    // By names that many APIs have.
    ["sandbox-image", undefined, { num_images: 3, seed: null }, { n: 3 }],
    ["sandbox-image", undefined, { enable_safety_checker: true, safety_tolerance: "2" }, {}],
    [
      "veo3",
      "fal",
      { aspect_ratio: "16:9", duration: "8s", resolution: "720p", generate_audio: true, auto_fix: true },
      { aspect_ratio: "16:9", duration: 8, resolution: "720p", generate_audio: true },
    ],
    // Whatever every request has there: how fast it is run is the provider's affair.
    ["flux-schnell", "replicate", { go_fast: true }, {}],
    ["flux-schnell", "fal", { guidance_scale: 3.5, acceleration: "regular" }, {}],
    // Examples that providers publish of their models.
    [
      "flux-dev",
      "fal",
      {
        ...{ image_size: "1152x864", num_inference_steps: 28, guidance_scale: 3.5, num_images: 1 },
        ...{ enable_safety_checker: true, output_format: "jpeg", acceleration: "none" },
      },
      { aspect_ratio: "4:3", steps: 28, guidance: 3.5, n: 1, output_format: "jpeg" },
    ],
    [
      "flux-schnell",
      "replicate",
      {
        ...{ go_fast: true, megapixels: "1", num_outputs: 1, aspect_ratio: "1:1", output_format: "webp" },
        ...{ output_quality: 80, num_inference_steps: 4 },
      },
      { n: 1, aspect_ratio: "1:1", output_format: "webp", output_quality: 80, steps: 4 },
    ],
    [
      "flux-dev",
      "replicate",
      { go_fast: true, guidance: 3, megapixels: "1", prompt_strength: 0.8, num_inference_steps: 28 },
      { guidance: 3, steps: 28 },
    ],
    [
      "flux-kontext-pro",
      "fal",
      { guidance_scale: 3.5, safety_tolerance: "2", enhance_prompt: false },
      { guidance: 3.5, prompt_upsampling: false },
    ],
    [
      "flux-2-pro",
      undefined,
      { disable_safety_checker: false, safety_tolerance: "5" },
      { safety_tolerance: 5 },
    ],
    ["flux-2-pro", undefined, { num_outputs: 1 }, {}],
    [
      "flux-2-pro",
      "replicate",
      { aspect_ratio: "custom", width: 1536, height: 1024, output_format: "jpg" },
      { size: "1536x1024", output_format: "jpeg" },
    ],
    ["sandbox-image", undefined, { width: 640, height: 480 }, { size: "640x480" }],
    ["sandbox-image", undefined, { image_size: { width: 64, height: 32 } }, { size: "64x32" }],
    ["sandbox-image", undefined, { size: { width: "64", height: 32 } }, { size: "64x32" }],
    ["flux-2-pro", undefined, { size: "1000x1000" }, { size: "1024x1024" }],
    ["flux-2-pro", undefined, { aspect_ratio: "16:9" }, { size: "1280x720" }],
    ["flux-kontext-pro", undefined, { aspect_ratio: "match_input_image" }, {}],
    ["sandbox-image", undefined, { aspect_ratio: "custom", width: 64, height: 32 }, { size: "64x32" }],
    ["flux-2-pro", undefined, { aspect_ratio: "custom", width: 1280, height: 720 }, { size: "1280x720" }],
    ["sandbox-video", undefined, { size: "1280x720" }, { aspect_ratio: "16:9", resolution: "720p" }],
    ["sandbox-video", undefined, { seconds: "8s" }, { duration: 8 }],
    // By another name for what the model has, whatever it calls it, and in other letters.
    [
      "flux-2-flex",
      undefined,
      { num_inference_steps: 28, guidance_scale: 3.5 },
      { steps: 28, guidance: 3.5 },
    ],
    ["hailuo-02", undefined, { prompt_optimizer: true, resolution: "768P" }, WITH_HAILUO],
    ["ideogram-3", undefined, { expand_prompt: true }, { magic_prompt: "on" }],
    ["ideogram-3", undefined, { magic_prompt_option: "Auto" }, { magic_prompt: "auto" }],
    ["viduq3-pro", undefined, { audio: false }, { generate_audio: false }],
    // What was not filled in.
    ["sandbox-image", undefined, { negative_prompt: "", loras: [], image_urls: [] }, {}],
    ["kling-v3-pro", undefined, { negative_prompt: "" }, { negative_prompt: "" }],
  ] as const)("of %s by the words of %p: %j becomes %j", (id, provider, fields, expected) => {
    expect(bodyOf(id, fields, provider)).toEqual(expected);
  });

  test.each([
    ["flux-2-pro", { num_outputs: 2 }, "not_a_choice", "input.num_outputs"],
    ["sandbox-image", { width: 640 }, "only_with", "input.width"],
    ["sandbox-image", { width: 640, height: "x" }, "must", "input.height"],
    ["sandbox-image", { image_size: { height: 32 } }, "must", "input.image_size.width"],
    ["sandbox-video", { size: { width: 640, height: { a: 1 } } }, "must", "input.size.height"],
    ["sandbox-image", { duration: 5 }, "not_a_choice", "input.duration"],
    ["flux-2-pro", { aspect_ratio: "11:1" }, "not_a_choice", "input.aspect_ratio"],
    ["sandbox-video", { video_size: "1000x300" }, "must", "input.video_size"],
    ["sandbox-video", { seconds: "long" }, "must", "input.seconds"],
    ["sandbox-image", { num_outputs: 2, n: 3 }, "given_twice", "input.n"],
    ["flux-2-flex", { num_inference_steps: 28, steps: 9 }, "given_twice", "input.steps"],
  ] as const)("of %s that it has nothing for is named: %j", (id, fields, kind, param) => {
    expect(refusal(() => translate(id, fields))).toEqual({ kind, param });
  });

  /** What is made of a request, or what is wrong with it by the caller's name. */
  const made = (id: string, fields: JsonObject) => {
    const { body, names } = translate(id, { prompt: "A fox", ...fields });
    const validated = catalog.validate(modelOf(id), body);
    if (!validated.ok) {
      const { message, param } = new AppError("invalid_request", validated.facts).renamed(namesFrom(names));
      return { message, param };
    }
    return Object.keys(fields).filter((name) => Object.hasOwn(validated.body, name));
  };

  test.each([
    ["veo3.1", { generate_audio: true }],
    ["veo3.1", { enable_audio: "true" }],
    ["hailuo-02", { generate_audio: false }],
    ["flux-2-klein-4b", { num_inference_steps: 4 }],
    ["flux-2-klein-4b", { num_inference_steps: "4" }],
    ["seedream-4", { max_images: 1, enhance_prompt_mode: "standard" }],
    ["nano-banana-pro", { limit_generations: false, enable_web_search: false }],
  ])("that asks %s for what it does anyway is taken, and nobody is told: %j", (id, fields) => {
    expect(made(id, fields)).toEqual([]);
  });

  test.each([
    ["veo3.1", { generate_audio: false }, "input.generate_audio must be true, got false."],
    ["hailuo-02", { enable_audio: true }, "input.enable_audio must be false, got true."],
    ["flux-2-klein-4b", { num_inference_steps: 28 }, "input.num_inference_steps must be 4, got 28."],
  ])("that asks %s for what it never does is named with what it does: %j", (id, fields, message) => {
    expect(made(id, fields)).toEqual({ message, param: `input.${Object.keys(fields)[0]}` });
  });

  test("that a route has the same value of in every request can have no other", () => {
    expect(refusal(() => translate("flux-schnell", { megapixels: "0.25" }, "replicate"))).toEqual({
      ...{ kind: "not_a_choice", param: "input.megapixels" },
    });
  });

  test("that nobody knows goes along, for the model's schema to refuse", () => {
    const { body, names } = translate("sandbox-image", { prompt: "x", gibberish: 1 });
    expect(body.gibberish).toBe(1);
    expect(names).toMatchObject({ gibberish: "input.gibberish", prompt: "input.prompt", n: "input.n" });
  });

  test("goes along also where its name is that of a prototype, which it does not become", () => {
    const { body, names } = translate("sandbox-image", JSON.parse('{"prompt":"x","__proto__":{"n":4}}'));
    expect(Object.keys(body)).toEqual(["model", "prompt", "__proto__"]);
    expect(body.n).toBeUndefined();
    expect(Object.getOwnPropertyDescriptor(names, "__proto__")?.value).toBe("input.__proto__");
  });
});

describe("files", () => {
  test.each([
    ["sandbox-image", { image: A }, { image_url: A }],
    ["sandbox-image", { images: [A] }, { image_url: A }],
    ["sandbox-image", { image_urls: [A] }, { image_urls: [A] }],
    ["sandbox-image", { input_images: [A, B] }, { image_urls: [A, B] }],
    ["sandbox-image", { input_image_2: B, input_image: A }, { image_urls: [A, B] }],
    ["sandbox-image", { image: A, mask: B }, { image_url: A, mask_url: B }],
    ["sandbox-image", { init_image: A, mask_image: B }, { image_url: A, mask_url: B }],
    ["veo3", { image: A }, { image_url: A }],
    ["veo3", { first_frame_image: A }, { image_url: A }],
    ["sandbox-video-frames", { start_image: A, end_image: B }, { first_frame_url: A, last_frame_url: B }],
    ["sandbox-video", { image: [A, B] }, { image_urls: [A, B] }],
  ] as const)("of %s go where its role is: %j", (id, fields, expected) => {
    expect(bodyOf(id, fields)).toEqual(expected);
  });

  test("keep their names, entry by entry", () => {
    expect(translate("sandbox-image", { input_image: A, input_image_2: B }).names).toMatchObject({
      ...{ "image_urls[0]": "input.input_image", "image_urls[1]": "input.input_image_2" },
    });
    expect(translate("sandbox-image", { images: [A, B] }).names).toMatchObject({
      image_urls: "input.images",
    });
  });

  test("that a model takes none of, or not so many, are refused by the caller's name", () => {
    expect(refusal(() => translate("flux-schnell", { image: A }))).toEqual({
      ...{ kind: "image_unused", param: "input.image" },
    });
    expect(refusal(() => translate("sandbox-image", { video: A }))).toEqual({
      ...{ kind: "unknown_field", param: "input.video" },
    });
    expect(refusal(() => translate("flux-kontext-pro", { images: [A, B] }))).toEqual({
      ...{ kind: "edits_one_image", param: "input.images" },
    });
    expect(refusal(() => translate("veo3", { image: A, first_frame_url: B }))).toMatchObject({
      kind: "edits_one_image",
    });
  });
});

test("a file format that a model cannot be told is what its pictures are stored as", () => {
  const { body, resultType } = translate("kling-v3-image", { output_format: "JPG" });
  expect({ body, resultType }).toEqual({ body: { model: "kling-v3-image" }, resultType: "image/jpeg" });
  expect(translate("flux-schnell", { output_format: "jpg" }, "replicate").resultType).toBeUndefined();
  expect(refusal(() => translate("kling-v3-image", { output_format: "bmp" }))).toEqual({
    ...{ kind: "not_a_choice", param: "input.output_format" },
  });
});
