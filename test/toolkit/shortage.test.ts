import { expect, test } from "bun:test";
import { isShortage } from "../../src/toolkit/shortage.ts";

const coded = (code: string) => Object.assign(new Error("It failed."), { code });

test.each([
  ["a code", coded("EMFILE")],
  ["a code further down", new Error("It cannot be loaded.", { cause: coded("ENFILE") })],
  ["the system's words", new Error("EMFILE: too many open files, open '/x'")],
  ["a loader's words", new Error("libvips.so: cannot open shared object file: Too many open files")],
  ["a decoder's words", new Error("VipsImage: out of memory --- size == 12 MB")],
])("%s tells of a shortage", (_, error) => {
  expect(isShortage(error)).toBe(true);
});

test.each([
  new Error("pngload_buffer: libspng read error"),
  coded("ENOENT"),
  coded("EIO"),
  "EMFILE",
  undefined,
])("%p does not", (error) => {
  expect(isShortage(error)).toBe(false);
});
