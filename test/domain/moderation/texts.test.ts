import { expect, test } from "bun:test";
import type { Model } from "../../../src/domain/model/model.ts";
import { textsOf } from "../../../src/domain/moderation/texts.ts";

const MODEL = {
  mediaFields: [{ name: "image_urls", role: "reference", media: "image" }],
  schema: {
    properties: {
      size: { type: "string", enum: ["1K", "2K"] },
      kind: { const: "still" },
      area: { type: "string", pattern: "^\\d+x\\d+$" },
      title: { type: "string", pattern: "\\S" },
      slug: { type: "string", pattern: "^[a-z-]+$" },
      shots: {
        type: "array",
        items: { properties: { text: { type: "string" }, move: { enum: ["in", "out"] } } },
      },
      style: { type: "object", properties: { name: { type: "string" } } },
    },
  },
} as unknown as Model;

test("every text that a caller chooses is read, with the path of its field", () => {
  const body = {
    ...{
      model: "sandbox-image",
      prompt: "a",
      negative_prompt: "b",
      n: 2,
      seed: 7,
      size: "1K",
      kind: "still",
    },
    ...{
      ...{ area: "1x2", title: "t", slug: "s" },
      callback_url: "https://example.com/c",
      task_id: "task_1",
      index: 0,
      image_urls: ["https://example.com/i"],
    },
    shots: [
      { text: "c", move: "in" },
      { text: "", extra: "d" },
    ],
    style: { name: "e", tags: ["f", { deep: "g" }] },
    note: null,
  };
  expect(textsOf(MODEL, body)).toEqual([
    { field: "prompt", text: "a" },
    { field: "negative_prompt", text: "b" },
    { field: "title", text: "t" },
    { field: "slug", text: "s" },
    { field: "shots[0].text", text: "c" },
    { field: "shots[1]", text: "extra" },
    { field: "shots[1].extra", text: "d" },
    { field: "style.name", text: "e" },
    { field: "style", text: "tags" },
    { field: "style.tags[0]", text: "f" },
    { field: "style.tags[1]", text: "deep" },
    { field: "style.tags[1].deep", text: "g" },
  ]);
});

test("a request without texts has none", () => {
  expect(textsOf(MODEL, { model: "sandbox-image", image_urls: ["x"], n: 1 })).toEqual([]);
});

test("a text is read whatever length, beginning or end its field asks for", () => {
  for (const pattern of ["^.{10,}$", "^[\\s\\S]{100,4000}$", "^[A-Z].*\\.$", "^[a-z, ]{20,}$"]) {
    const schema = { properties: { prompt: { type: "string", pattern } } };
    expect(textsOf({ schema, mediaFields: [] }, { prompt: "p" })).toEqual([{ field: "prompt", text: "p" }]);
  }
});
