import { expect, test } from "bun:test";
import fc from "fast-check";
import { createScrub, vetted } from "../../../src/providers/kit/scrub.ts";

const KEY = "id-9f8e7d6c:0a1b2c3d4e5f60718293a4b5";
const scrub = createScrub([KEY, ...KEY.split(":")]);

test.each([
  [`Key ${KEY} is wrong`, "Key [secret] is wrong"],
  [`a${KEY}b${KEY}`, "a[secret]b[secret]"],
  ["Incorrect API key provided: sk-proj-ab…wxyz.", "Incorrect API key provided: [secret]"],
  ["Authorization: Bearer abc.def-123", "Authorization: [secret]"],
  ["line one\r\nline\ttwo\u001b[31m\u202E", "line one line two [31m"],
  ["", ""],
])("%j becomes %j", (text, clean) => {
  expect(scrub(text)).toBe(clean);
});

test("eight characters of a key in a row survive nowhere", () => {
  const anything = fc.string({ maxLength: 40 });
  fc.assert(
    fc.property(anything, fc.nat(KEY.length), fc.nat(KEY.length), anything, (before, one, other, after) => {
      const piece = KEY.slice(Math.min(one, other), Math.max(one, other));
      const clean = scrub(before + piece + after);
      for (let i = 0; i + 8 <= piece.length; i++) expect(clean).not.toContain(piece.slice(i, i + 8));
    }),
  );
});

test("a long text is cut without breaking a character", () => {
  const clean = scrub(`${"x".repeat(299)}🦊🦊`);
  expect(clean.length).toBeLessThanOrEqual(301);
  expect(clean.isWellFormed()).toBe(true);
});

test("a key at the cut does not survive as a beginning", () => {
  expect(scrub("x".repeat(290) + KEY)).not.toContain(KEY.slice(0, 8));
});

test.each([
  ["Invalid size '7x7'. Supported are '1024x1024' and 'auto'.", true],
  ["image_url: Too small, at least 256 pixels.", true],
  ["See https://upstream.example/errors", false],
  ["ask help@upstream.example", false],
  ["request req_0123abcd", false],
  ["your account is over its quota", false],
  ["key [secret] is wrong", false],
  ["at /srv/app/main.py", false],
  ["<html>", false],
  ["", false],
  [undefined, false],
])("%j may be shown: %p", (text, isShown) => {
  expect(vetted(text)).toBe(isShown ? text : undefined);
});
