import { expect, test } from "bun:test";
import { createKnownContents } from "../../src/assets/known.ts";
import { createRecentFiles } from "../../src/assets/recent.ts";

const KB = 1024;
const bytes = (length: number) => new Uint8Array(length).fill(7);

test("a small file is kept as it was given, a large one is not", () => {
  const files = createRecentFiles();
  const large = bytes(512 * KB);
  files.add("small", large.subarray(0, 256 * KB));
  files.add("large", large.subarray(0, 256 * KB + 1));
  large.fill(0);
  expect(files.get("small")).toEqual(bytes(256 * KB));
  expect(files.get("large")).toBeUndefined();
});

test("16 MB are kept, and the oldest go first", () => {
  const files = createRecentFiles();
  for (let i = 0; i < 65; i++) files.add(String(i), bytes(256 * KB));
  expect(files.get("0")).toBeUndefined();
  expect(files.get("1")?.length).toBe(256 * KB);
  files.forget("1");
  files.add("65", bytes(256 * KB));
  expect(files.get("2")?.length).toBe(256 * KB);
});

test("what was checked as an output is not known as a clean input until it was one", () => {
  const known = createKnownContents();
  const file = { sha256: "a", sizeBytes: 1, type: "image/png", width: 1, height: 1 } as const;
  known.add(file, false);
  expect(known.get("a", "image/png", false)).toBe(file);
  expect(known.get("a", "image/png", true)).toBeUndefined();
  known.add(file, true);
  known.add(file, false);
  expect(known.get("a", "image/png", true)).toBe(file);
  known.forget("a");
  expect(known.get("a", "image/png", false)).toBeUndefined();
});

test("ten thousand contents are known at most, and the oldest are forgotten", () => {
  const known = createKnownContents();
  const file = (i: number) =>
    ({ sha256: String(i), sizeBytes: 1, type: "image/png", width: 1, height: 1 }) as const;
  for (let i = 0; i <= 10_000; i++) known.add(file(i), true);
  expect(known.get("0", "image/png", false)).toBeUndefined();
  expect(known.get("1", "image/png", false)).toEqual(file(1));
});
