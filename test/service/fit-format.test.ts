import { expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { Json } from "../../src/domain/json.ts";
import { fitFormat } from "../../src/service/fit-format.ts";

const models = createCatalog().all();
const fitted = (id: string, format: Json) => {
  const model = models.find((each) => each.id === id);
  if (model === undefined) throw new Error(`There is no ${id}.`);
  return fitFormat(model, format);
};

test.each([
  ["a choice of the model is told to it", "flux-2-pro", "png", { kind: "told", value: "png" }],
  ["a choice by another name is told by the model's", "flux-2-pro", "jpg", { kind: "told", value: "jpeg" }],
  ["what is no choice of it is made here", "seedream-5-lite", "webp", { kind: "stored", type: "image/webp" }],
  ["so is all of a model without a choice", "kling-v3-image", "jpg", { kind: "stored", type: "image/jpeg" }],
  ["what is not made here is refused", "kling-v3-image", "gif", undefined],
  ["names are in small letters", "kling-v3-image", "PNG", undefined],
  ["no text is no format", "kling-v3-image", 7, undefined],
  [
    "a drawing stays one: the schema refuses others",
    "recraft-v3-vector",
    "png",
    { kind: "told", value: "png" },
  ],
  ["a video is no picture", "hailuo-02", "png", undefined],
] as const)("%s", (_, id, format, expected) => {
  expect(fitted(id, format)).toEqual(expected);
});
