import { expect, test } from "bun:test";
import { type FilePack, readPack, writePack } from "../../src/toolkit/file-pack.ts";

const file = (...bytes: number[]) => ({
  type: "text/css",
  plainBytes: bytes.length,
  gzip: new Uint8Array(bytes),
  brotli: new Uint8Array(bytes.toReversed()),
});
const PACK: FilePack = {
  about: { script: "a.js" },
  files: new Map([
    ["a.js", file(1, 2, 3)],
    ["empty.css", file()],
    ["b.css", file(4)],
  ]),
};

test("a pack gives back what was put into it, also from the midst of other bytes", () => {
  const bytes = writePack(PACK);
  expect(readPack(bytes)).toEqual(PACK);
  const within = new Uint8Array(bytes.length + 20);
  within.set(bytes, 7);
  expect(readPack(within.subarray(7, 7 + bytes.length))).toEqual(PACK);
});

test("a pack with too few bytes, or too many, is none", () => {
  const bytes = writePack(PACK);
  expect(() => readPack(bytes.slice(0, -1))).toThrow("came as");
  expect(() => readPack(new Uint8Array([...bytes, ...bytes]))).toThrow("came as");
});
