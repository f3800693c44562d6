import { expect, test } from "bun:test";
import { readManifest } from "../../src/catalog/manifest.ts";
import type { JsonObject } from "../../src/domain/json.ts";

const manifest = (over: JsonObject = {}): JsonObject => ({
  id: "m",
  kind: "image",
  name: "M",
  description: "A model.",
  modes: [{ id: "edit", requires: ["image"] }],
  schema: {
    required: ["image_url"],
    properties: { image_url: { description: "An image." }, n: { type: "integer" } },
  },
  media: { image_url: { role: "image", media: "image" } },
  price: { version: "1", lines: [{ sku: "m", unit: "output", amount: "0.010000" }] },
  deadline_seconds: 120,
  routes: [{ provider: "sandbox", upstream_model: "picture" }],
  ...over,
});
const line = (over: JsonObject): JsonObject => ({
  version: "1",
  lines: [{ sku: "m", unit: "output", amount: "1", ...over }],
});

test("a manifest becomes a model whose schema has what all models have in common", () => {
  const model = readManifest("m.yaml", manifest({ shared: ["seed"] }));
  expect(model).toMatchObject({ id: "m", deadlineMs: 120_000, resultField: undefined });
  expect(model.price.lines).toEqual([{ sku: "m", unit: "output", unitMicros: 10_000 }] as never);
  expect(Object.keys(model.schema.properties as JsonObject)).toEqual([
    "model",
    "image_url",
    "n",
    "seed",
    "callback_url",
  ]);
  expect(model.schema).toMatchObject({ required: ["model", "image_url"], additionalProperties: false });
});

test.each([
  [null, "the manifest must be an object"],
  [manifest({ nmae: "M" }), 'the manifest has an unknown field "nmae"; did you mean "name"?'],
  [manifest({ name: undefined }), 'the manifest lacks the field "name"'],
  [manifest({ name: "" }), "name must be a text that is not empty"],
  [manifest({ kind: "audio" }), "kind must be one of image, video"],
  [manifest({ deadline_seconds: 0.5 }), "deadline_seconds must be a whole number above 0"],
  [manifest({ modes: [] }), "modes must have at least 1 entries"],
  [
    manifest({ modes: [{ id: "edit", requires: ["mask"] }] }),
    'modes[0].requires[0] names the role "mask", which no field under media has',
  ],
  [
    manifest({ media: { image: { role: "image", media: "image" } } }),
    'media.image names "image", which is no property of the schema',
  ],
  [
    manifest({ schema: { required: ["x"], properties: { image_url: {} } } }),
    'schema.required[0] names "x", which is no property of the schema',
  ],
  [manifest({ shared: ["sede"] }), 'shared[0] names "sede", which shared.yaml does not have'],
  [manifest({ result_input: { role: "image" } }), 'result_input needs the property "task_id" in the schema'],
  [
    manifest({ price: line({ when: { image_url: "x" } }) }),
    "price.lines[0].when.image_url is nothing that a price can depend on",
  ],
  [manifest({ routes: [{ provider: "sandbox" }] }), 'routes[0] lacks the field "upstream_model"'],
] as const)("a bad manifest is named by file and field: %#", (content, problem) => {
  expect(() => readManifest("m.yaml", content)).toThrow(`m.yaml: ${problem}`);
});
