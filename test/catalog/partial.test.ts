import { expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { JsonObject } from "../../src/domain/json.ts";

const catalog = createCatalog();
const A = "https://example.com/a.png";

function validate(id: string, body: JsonObject, isPartial = true) {
  return catalog.validate(catalog.find(id)!, { model: id, ...body }, { isPartial });
}

test("what was left out is named and not in the body; defaults are, and what was given is not changed", () => {
  const given = { model: "sandbox-video-reference", duration: 2 };
  expect(validate("sandbox-video-reference", given)).toEqual({
    ok: true,
    body: { ...given, resolution: "360p", aspect_ratio: "16:9", n: 1 },
    missing: ["prompt", "reference_image_urls"],
  });
  expect(given).toEqual({ model: "sandbox-video-reference", duration: 2 });
});

test("a whole body is taken as a create takes it", () => {
  const body = { prompt: "A", image_url: A, mask_url: A };
  const partial = validate("sandbox-image", body);
  expect(partial).toEqual({ ...validate("sandbox-image", body, false), missing: [] } as typeof partial);
});

test.each([
  ["sandbox-image", { mask_url: A }, ["prompt", "image_url"]],
  ["gpt-image-1.5", { input_fidelity: "high" }, ["prompt", "image_url"]],
  ["gpt-image-1.5", { moderation: "low" }, ["prompt"]],
  ["kling-v3-standard", { last_frame_url: A }, ["prompt", "image_url"]],
  ["sandbox-video-motion", { motion_video_url: A }, ["image_url"]],
] as [string, JsonObject, string[]][])(
  "of %s, %j lacks no more than the simplest mode that takes it: %j",
  (id, body, missing) => {
    expect(validate(id, body)).toMatchObject({ ok: true, missing });
  },
);

test.each([
  ["sandbox-image", { prompt: "" }, "prompt"],
  ["sandbox-image", { prompt: null }, "prompt"],
  ["sandbox-image", { image_urls: [] }, "image_urls"],
  ["sandbox-image", { image_url: A, image_urls: [A] }, "image_urls"],
  ["sandbox-image", { size: "1x1", aspect_ratio: "1:1" }, "aspect_ratio"],
  ["sandbox-image", { n: 99 }, "n"],
  ["sandbox-image", { promt: "A" }, "promt"],
  ["sandbox-video", { index: 0 }, "index"],
  ["sandbox-video-frames", { first_frame_url: 7 }, "first_frame_url"],
] as [string, JsonObject, string][])(
  "of %s, %j is refused for %s, for nothing else may be left out",
  (id, body, param) => {
    expect(validate(id, body)).toMatchObject({ ok: false, facts: { field: param } });
  },
);

test("the simplest mode is taken in whatever order the model lists them", () => {
  const model = catalog.find("gpt-image-1.5")!;
  const reversed = { ...model, modes: [...model.modes].reverse() };
  const body = { model: model.id, prompt: "A", input_fidelity: "high" };
  expect(catalog.validate(reversed, body, { isPartial: true })).toMatchObject({ missing: ["image_url"] });
});

test("a create must have its prompt and its media", () => {
  expect(validate("sandbox-image", {}, false)).toMatchObject({ ok: false, facts: { field: "prompt" } });
  expect(validate("sandbox-video-frames", {}, false)).toMatchObject({
    ok: false,
    facts: { field: "first_frame_url" },
  });
});
