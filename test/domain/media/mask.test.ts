import { expect, test } from "bun:test";
import type { MediaProbe } from "../../../src/domain/media/asset.ts";
import { maskProblem } from "../../../src/domain/media/mask.ts";

const image: MediaProbe = { type: "image/jpeg", width: 20, height: 10, hasAlpha: false };
const mask: MediaProbe = { type: "image/png", width: 20, height: 10, hasAlpha: true };

test("a PNG with alpha, as large as the image, is a mask of it", () => {
  expect(maskProblem(mask, image)).toBeUndefined();
  expect(maskProblem(mask, undefined)).toBeUndefined();
});

test("what is no PNG, has no alpha, or is of another size, is none, and the reason names what was given", () => {
  expect(maskProblem({ ...mask, type: "image/webp" }, image)).toContain("image/webp");
  expect(maskProblem({ ...mask, hasAlpha: false }, image)).toContain("transparent");
  expect(maskProblem({ ...mask, width: 21 }, image)).toContain("20x10, got 21x10");
  expect(maskProblem({ ...mask, height: 9 }, image)).toContain("20x10, got 20x9");
});
