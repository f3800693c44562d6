import { expect, test } from "bun:test";
import { suggest } from "../../src/domain/suggest.ts";

const KNOWN = [
  "model",
  "prompt",
  "image_url",
  "image_urls",
  "aspect_ratio",
  "resolution",
  "n",
  "callback_url",
];

test.each([
  ["promt", "prompt"],
  ["pormpt", "prompt"],
  ["Prompt", "prompt"],
  ["imageUrl", "image_url"],
  ["image-urls", "image_urls"],
  ["aspectratio", "aspect_ratio"],
  ["callback", "callback_url"],
  ["resolutoin", "resolution"],
  ["webhook", undefined],
  ["", undefined],
  ["p".repeat(100), undefined],
])("%j is taken for %j", (given, known) => {
  expect(suggest(given, KNOWN)).toBe(known);
});
