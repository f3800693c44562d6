import { expect, test } from "bun:test";
import type { Json } from "../../../src/domain/json.ts";
import { MAX_PREVIEW_BYTES, partialImagesOf, readPreview } from "../../../src/domain/task/preview.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n and more", "latin1");
const of = { wanted: 2, outputs: 3 };

test.each([
  [PNG, "image/png"],
  [Buffer.from("\xff\xd8\xff\xe0", "latin1"), "image/jpeg"],
  [Buffer.from("RIFF\x01\x02\x03\x04WEBPVP8 ", "latin1"), "image/webp"],
] as const)("%# is passed on as what its bytes begin as", (bytes, type) => {
  expect(readPreview({ index: 1, outputIndex: 2, bytes }, of)).toEqual({
    ...{ index: 1, outputIndex: 2, type },
    bytes,
  });
});

test.each([
  "",
  "PNG",
  "\x89PNG\r\n\x1a",
  "GIF89a",
  "RIFF____WAVE",
  "<svg xmlns='http://www.w3.org/2000/svg'>",
  "%PDF-1.7",
])("what is no image of a kind that is known is dropped: %j", (text) => {
  expect(readPreview({ index: 0, bytes: Buffer.from(text, "latin1") }, of)).toBeUndefined();
});

test("one of 8 MiB is passed on, and one a byte larger is not", () => {
  const bytes = new Uint8Array(MAX_PREVIEW_BYTES + 1);
  bytes.set(PNG);
  expect(readPreview({ index: 0, bytes: bytes.subarray(0, MAX_PREVIEW_BYTES) }, of)).toBeDefined();
  expect(readPreview({ index: 0, bytes }, of)).toBeUndefined();
});

test.each([
  { index: -1 },
  { index: 2 },
  { index: 0.5 },
  { index: Number.NaN },
  { index: 0, outputIndex: 3 },
  { index: 0, outputIndex: -1 },
])("a number that none of them can have is not passed on: %j", (numbers) => {
  expect(readPreview({ ...numbers, bytes: PNG }, of)).toBeUndefined();
});

test("the output it is of need not be known", () => {
  expect(readPreview({ index: 0, bytes: PNG }, of)).toMatchObject({ index: 0, outputIndex: undefined });
});

test("a request wants as many as it says, of images alone, and none when it says nothing sensible", () => {
  const wanted = (value: Json | undefined, kind: "image" | "video" = "image") =>
    partialImagesOf({ kind, parameters: value === undefined ? {} : { partial_images: value } });
  expect([0, 1, 2, 3].map((count) => wanted(count))).toEqual([0, 1, 2, 3]);
  expect([undefined, null, 4, -1, 1.5, "2", true].map((value) => wanted(value))).toEqual(Array(7).fill(0));
  expect(wanted(2, "video")).toBe(0);
});
