import { expect, test } from "bun:test";
import fc from "fast-check";
import { createJsonScan } from "../../../src/providers/comfyui/json-scan.ts";

/** All texts of a JSON text that are wanted, each with its depth, and what ended; fed in pieces of this size. */
function scanned(json: string, size: number, wanted: (depth: number) => boolean) {
  const texts: [number, string][] = [];
  const closed: number[] = [];
  const scan = createJsonScan({
    wants: wanted,
    text: (depth, text) => void texts.push([depth, text]),
    closed: (depth) => void closed.push(depth),
  });
  const bytes = Buffer.from(json);
  let isOver = false;
  for (let at = 0; at < bytes.length; at += size) isOver = scan(bytes.subarray(at, at + size));
  return { texts, closed, isOver };
}

/** The same, found by parsing. */
function parsed(value: unknown, wanted: (depth: number) => boolean, depth = 0): [number, string][] {
  const raw = (text: string) => JSON.stringify(text).slice(1, -1);
  if (typeof value === "string") return wanted(depth) ? [[depth, raw(value)]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [
    ...(Array.isArray(value) || !wanted(depth + 1) ? [] : [[depth + 1, raw(name)] as [number, string]]),
    ...parsed(each, wanted, depth + 1),
  ]);
}

test("in whatever pieces it comes, the same texts are found at the same depths", () => {
  const nasty = fc.string({
    unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "a", "é", "\n"),
    maxLength: 12,
  });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      nasty,
      fc.integer(),
      fc.constant(null),
      fc.array(tie("value")),
      fc.dictionary(nasty, tie("value")),
    ),
  }));
  fc.assert(
    fc.property(
      fc.array(value),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 4 }),
      (list, size, odd) => {
        const wanted = (depth: number) => depth % 4 === odd % 4;
        const { texts, isOver } = scanned(JSON.stringify(list), size, wanted);
        expect(texts).toEqual(parsed(JSON.parse(JSON.stringify(list)), wanted));
        expect(isOver).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("a text that is cut off is not over", () => {
  for (const cut of ["[", '["a', '{"a": [1, 2]', '["\\"]'])
    expect(scanned(cut, 3, () => true).isOver).toBe(false);
});
