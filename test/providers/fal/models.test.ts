import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { ProviderId } from "../../../src/domain/ids.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { selectMode } from "../../../src/domain/model/model.ts";

const catalog = createCatalog({ isEnabled: (provider) => provider === ("fal" as ProviderId) });
const A = "https://example.com/a.png";

function validate(id: string, body: JsonObject) {
  return catalog.validate(catalog.find(id)!, { model: id, prompt: "A fox", ...body });
}

test.each([
  ["flux-schnell", { n: 4, aspect_ratio: "21:9", seed: 0, output_format: "jpeg" }],
  ["flux-kontext-pro", { image_url: A }],
  ["nano-banana", { image_urls: [A, A], output_format: "webp" }],
  ["kling-v3-standard", { duration: 15, aspect_ratio: "1:1", generate_audio: false, cfg_scale: 0 }],
  ["kling-v3-standard", { image_url: A, last_frame_url: A, negative_prompt: "" }],
  ["veo3", { image_url: A, duration: 4, resolution: "1080p" }],
] as [string, JsonObject][])("%s takes request %#", (id, body) => {
  expect(validate(id, body)).toMatchObject({ ok: true });
});

test.each([
  ["flux-dev", { n: 5 }, "n"],
  ["flux-dev", { image_url: A }, "image_url"],
  ["flux-kontext-pro", {}, "image_url"],
  ["nano-banana", { image_url: A, image_urls: [A] }, "image_urls"],
  ["kling-v3-standard", { last_frame_url: A }, "last_frame_url"],
  ["kling-v3-standard", { image_url: A, aspect_ratio: "1:1" }, "aspect_ratio"],
  ["kling-v3-standard", { duration: 16 }, "duration"],
  ["kling-v3-standard", { cfg_scale: 1.1 }, "cfg_scale"],
  ["veo3", { duration: 5 }, "duration"],
] as [string, JsonObject, string][])("%s refuses request %# for one of its fields", (id, body, param) => {
  expect(validate(id, body)).toMatchObject({ ok: false, facts: { field: param } });
});

test.each([
  ["nano-banana", [], "text-to-image"],
  ["nano-banana", ["image"], "image-to-image"],
  ["kling-v3-standard", [], "text-to-video"],
  ["kling-v3-standard", ["first_frame"], "image-to-video"],
  ["kling-v3-standard", ["first_frame", "last_frame"], "first-last-frame"],
  ["veo3", ["first_frame"], "image-to-video"],
] as const)("%s with inputs %j is %s", (id, roles, mode) => {
  expect(selectMode(catalog.find(id)!, new Set(roles))?.id).toBe(mode);
});
