import { expect, test } from "bun:test";
import { CLEARING, isBlank, type Stroke } from "../../console/screens/playground/mask.ts";

const stroke = (more: Partial<Stroke>): Stroke => ({ erases: false, brush: 10, points: [[0, 0]], ...more });
const paint = stroke({});
const erase = stroke({ erases: true });
const all = stroke({ whole: "painted" });
const invert = stroke({ whole: "inverted" });

test.each([
  [[], true],
  [[paint], false],
  [[erase], true],
  [[erase, erase, paint], false],
  // What the brush left of the other is not known.
  [[paint, erase], false],
  [[paint, CLEARING], true],
  [[paint, CLEARING, erase], true],
  [[all], false],
  [[all, invert], true],
  [[all, invert, invert], false],
  [[all, erase, invert], false],
  [[erase, invert], false],
] as const)("of %j a mask changes nothing: %p", (strokes, expected) => {
  expect(isBlank(strokes)).toBe(expected);
});
