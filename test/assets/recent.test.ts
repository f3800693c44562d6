import { expect, test } from "bun:test";
import { createKnownContents } from "../../src/assets/known.ts";
import { createRecentFiles } from "../../src/assets/recent.ts";

const KB = 1024;
const bytes = (length: number) => new Uint8Array(length).fill(7);

test("a small file is kept as it was given, a large one is not", async () => {
  const files = createRecentFiles();
  const large = bytes(512 * KB);
  files.add("small", large.subarray(0, 256 * KB), "image/png");
  expect(files.add("large", large.subarray(0, 256 * KB + 1), "image/png")).toBeUndefined();
  large.fill(0);
  expect(files.get("small")?.type).toBe("image/png");
  expect(await files.get("small")?.bytes()).toEqual(bytes(256 * KB));
  expect(files.get("large")).toBeUndefined();
});

test("16 MB are kept, and what was not asked for longest goes first", () => {
  const files = createRecentFiles();
  const add = (name: string) => files.add(name, bytes(256 * KB), "image/png");
  for (let i = 0; i < 65; i++) add(String(i));
  expect(files.get("0")).toBeUndefined();
  expect(files.get("1")?.size).toBe(256 * KB);
  add("65");
  expect(files.get("2")).toBeUndefined();
  expect(files.get("1")?.size).toBe(256 * KB);
  files.forget("1");
  add("66");
  expect(files.get("3")?.size).toBe(256 * KB);
});

test("a file of a few bytes counts as 1 KB", () => {
  const files = createRecentFiles();
  for (let i = 0; i <= 16 * KB; i++) files.add(String(i), bytes(1), "image/png");
  expect(files.get("0")).toBeUndefined();
  expect(files.get("1")?.size).toBe(1);
});

test("a file is worth keeping when it is asked for again, with at most 16 MB of others in between", () => {
  const files = createRecentFiles();
  expect(files.isAskedForAgain("a", 256 * KB)).toBe(false);
  expect(files.isAskedForAgain("a", 256 * KB)).toBe(true);
  expect(files.isAskedForAgain("a", 256 * KB)).toBe(false);
  for (let i = 0; i < 63; i++) files.isAskedForAgain(String(i), 256 * KB);
  expect(files.isAskedForAgain("a", 256 * KB)).toBe(true);
  files.isAskedForAgain("b", 256 * KB);
  for (let i = 100; i < 164; i++) files.isAskedForAgain(String(i), 256 * KB);
  expect(files.isAskedForAgain("b", 256 * KB)).toBe(false);
});

test("a large file is not worth keeping, however often it is asked for", () => {
  const files = createRecentFiles();
  for (let i = 0; i < 3; i++) expect(files.isAskedForAgain("large", 256 * KB + 1)).toBe(false);
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
