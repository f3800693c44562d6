import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import { createManifestReader } from "../../../src/catalog/read-manifest.ts";
import type { ModelId, ProviderId } from "../../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { quote } from "../../../src/domain/money/pricing.ts";

const catalog = createCatalog({ isEnabled: (provider) => provider === ("openai" as ProviderId) });
const A = "https://example.com/a.png";

function validate(id: string, body: JsonObject) {
  return catalog.validate(catalog.find(id)!, { model: id, prompt: "A fox", ...body });
}

test.each([
  [
    "gpt-image-2",
    { prompt: "x".repeat(32_000), n: 10, size: "1536x1024", quality: "low", background: "auto" },
  ],
  [
    "gpt-image-2",
    { background: "transparent", output_format: "webp", output_compression: 0, moderation: "low" },
  ],
  ["gpt-image-2", { image_urls: Array(10).fill(A), mask_url: A, background: "transparent" }],
  ["gpt-image-1.5", { image_url: A, input_fidelity: "high" }],
  ["gpt-image-1-mini", { output_format: "jpeg", output_compression: 100 }],
  ["gpt-image-2", { partial_images: 0 }],
  ["gpt-image-1.5", { partial_images: 3 }],
  ["gpt-image-2.5-flare", { quality: "max", size: "1024x1536" }],
  ["gpt-image-2.6-sunburst", { quality: "xhigh", complexity: "low", image_url: A, mask_url: A }],
  [
    "gpt-image-2.6-flare",
    { output_format: "gif", frame_count: 16, frame_duration_ms: 10, partial_images: 0 },
  ],
] as [string, JsonObject][])("%s takes request %#", (id, body) => {
  expect(validate(id, body)).toMatchObject({ ok: true });
});

test.each([
  ["gpt-image-2", { size: "2048x2048" }, "size"],
  ["gpt-image-2", { input_fidelity: "high", image_url: A }, "input_fidelity"],
  ["gpt-image-2", { moderation: "low", image_url: A }, "moderation"],
  ["gpt-image-2", { background: "transparent", output_format: "jpeg" }, "background"],
  ["gpt-image-2", { output_compression: 50 }, "output_compression"],
  ["gpt-image-2", { output_compression: 101, output_format: "jpeg" }, "output_compression"],
  ["gpt-image-2", { partial_images: 4 }, "partial_images"],
  ["gpt-image-1.5", { partial_images: -1 }, "partial_images"],
  ["gpt-image-1-mini", { partial_images: "1" }, "partial_images"],
  ["gpt-image-2", { mask_url: A }, "mask_url"],
  ["gpt-image-2", { image_url: A, image_urls: [A] }, "image_urls"],
  ["gpt-image-1.5", { input_fidelity: "high" }, "input_fidelity"],
  ["gpt-image-2", { quality: "max" }, "quality"],
  ["gpt-image-2.5-flare", { complexity: "low" }, "complexity"],
  ["gpt-image-2.6-flare", { output_format: "svg" }, "output_format"],
  ["gpt-image-2.5-flare", { output_format: "gif" }, "output_format"],
  ["gpt-image-2.6-flare", { frame_count: 4 }, "frame_count"],
  ["gpt-image-2.6-flare", { frame_duration_ms: 100, output_format: "webp" }, "frame_duration_ms"],
  ["gpt-image-2.6-flare", { frame_count: 17, output_format: "gif" }, "frame_count"],
  ["gpt-image-2.6-flare", { partial_images: 1, output_format: "gif" }, "partial_images"],
  ["gpt-image-2.6-flare", { image_url: A, mask_url: A, output_format: "gif" }, "mask_url"],
  ["gpt-image-2.6-flare", { background: "transparent", output_format: "gif" }, "background"],
  ["gpt-image-2.6-flare", { output_compression: 50, output_format: "gif" }, "output_compression"],
  ["gpt-image-1-mini", { input_fidelity: "high", image_url: A }, "input_fidelity"],
] as [string, JsonObject, string][])("%s refuses request %# for one of its fields", (id, body, param) => {
  expect(validate(id, body)).toMatchObject({ ok: false, facts: { field: param } });
});

test("what leaves the choice to the model is priced as the dearest it can choose", () => {
  for (const model of catalog.models()) {
    const price = (parameters: { [name: string]: Json }) => {
      const request = {
        kind: "image",
        model: model.id as ModelId,
        mode: "any",
        n: 1,
        parameters,
        inputs: [],
      } as const;
      return quote(model, request).ceiling as number;
    };
    const sizes = ["1024x1024", "1536x1024", "1024x1536"];
    const { enum: choices } = (model.schema.properties as { quality: { enum: string[] } }).quality;
    const qualities = choices.filter((quality) => quality !== "auto");
    for (const quality of qualities) {
      expect(price({ quality, size: "auto" })).toBe(
        Math.max(...sizes.map((size) => price({ quality, size }))),
      );
    }
    for (const size of [...sizes, "auto"]) {
      expect(price({ quality: "auto", size })).toBe(
        Math.max(...qualities.map((quality) => price({ quality, size }))),
      );
    }
  }
});

test.each([
  ["gpt-image-2.5-flare", { quality: "xhigh" }, 94_000],
  ["gpt-image-2.5-sunburst", { quality: "max", partial_images: 2 }, 217_000],
  // Nothing says how many tokens an image takes, so a dollar is held.
  ["gpt-image-2.6-flare", { quality: "low" }, 999_990],
  // A GIF has up to 16 pictures.
  ["gpt-image-2.6-flare", { quality: "low", output_format: "gif" }, 15_999_840],
] as [string, { [name: string]: Json }, number][])(
  "%s with %j costs at most %i millionths",
  (id, parameters, most) => {
    const request = { kind: "image", model: id as ModelId, mode: "any", n: 1, inputs: [] } as const;
    const { ceiling } = quote(catalog.find(id)!, {
      ...request,
      parameters: { size: "auto", complexity: "high", output_format: "png", ...parameters },
    });
    expect(ceiling as number).toBe(most);
  },
);

test("the manifest of a video model in the documents has no problem", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/providers-and-models.md"), "utf8");
  const [, text = ""] = /```yaml\n(id: wan-2\.2\n[^`]*)```/.exec(page) ?? [];
  expect(createManifestReader().read("wan-2.2.yaml", text).model).toMatchObject({
    id: "wan-2.2",
    kind: "video",
  });
});
