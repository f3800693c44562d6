import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  BASE62,
  displayOf,
  formatCredential,
  parseCredential,
} from "../../../src/domain/access/credential.ts";
import { createSecrets, unbiasedBase62 } from "../../../src/runtime/secrets.ts";

const body = fc.string({ unit: fc.constantFrom(...BASE62), minLength: 32, maxLength: 32 });
const kind = fc.constantFrom("api_key" as const, "management_token" as const);
const ZEROS = "0".repeat(32);

describe("a credential", () => {
  test("has a known form", () => {
    // CRC-32 of 32 zeros is 2700251856, which is 2wjyrI in base 62.
    expect(formatCredential("api_key", ZEROS)).toBe(`sk-svc-${ZEROS}2wjyrI`);
    expect(formatCredential("management_token", ZEROS)).toBe(`mt-svc-${ZEROS}2wjyrI`);
  });

  test("has zlib's CRC-32 of its body in base 62 at its end", () => {
    const digits = (text: string) =>
      [...text].reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
    fc.assert(
      fc.property(body, (text) => {
        expect(digits(formatCredential("api_key", text).slice(-6))).toBe(Bun.hash.crc32(text));
      }),
    );
  });

  test("is recognised with its kind", () => {
    fc.assert(
      fc.property(kind, body, (wanted, text) => {
        expect(parseCredential(formatCredential(wanted, text))).toEqual({ kind: wanted });
      }),
    );
  });

  test("with one wrong character is refused", () => {
    const place = fc.integer({ min: 7, max: 44 });
    fc.assert(
      fc.property(kind, body, place, fc.constantFrom(...BASE62), (wanted, text, at, letter) => {
        const right = formatCredential(wanted, text);
        fc.pre(right[at] !== letter);
        expect(parseCredential(right.slice(0, at) + letter + right.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  test("with two neighbours swapped is refused", () => {
    fc.assert(
      fc.property(body, fc.integer({ min: 7, max: 43 }), (text, at) => {
        const right = formatCredential("api_key", text);
        const [a = "", b = ""] = right.slice(at, at + 2);
        fc.pre(a !== b);
        expect(parseCredential(right.slice(0, at) + b + a + right.slice(at + 2))).toBeUndefined();
      }),
    );
  });

  test.each([
    ["", "nothing"],
    [`sk-svc-${ZEROS}2wjyr`, "one character short"],
    [`sk-svc-${ZEROS}2wjyrI0`, "one too long"],
    [`sk-xyz-${ZEROS}2wjyrI`, "another prefix"],
    [`SK-svc-${ZEROS}2wjyrI`, "a prefix in capitals"],
    [`sk-svc-${"-".repeat(32)}2wjyrI`, "characters outside base 62"],
    [`sk-svc-${"０".repeat(32)}2wjyrI`, "full-width digits"],
    [` sk-svc-${ZEROS}2wjyr`, "a leading space"],
  ])("is not %p (%s)", (text) => {
    expect(parseCredential(text)).toBeUndefined();
  });

  test("cannot be made of another body", () => {
    for (const wrong of ["", "0".repeat(31), "0".repeat(33), `${"0".repeat(31)}-`]) {
      expect(() => formatCredential("api_key", wrong)).toThrow(RangeError);
    }
  });

  test("is shown by its first 11 and last 4 characters", () => {
    expect(displayOf(`sk-svc-abcd${"0".repeat(30)}wxyz`)).toBe("sk-svc-abcd…wxyz");
  });
});

describe("secrets", () => {
  test("are 32 base62 characters, different each time", () => {
    const { newBody } = createSecrets();
    const bodies = Array.from({ length: 1000 }, newBody);
    for (const text of bodies) expect(text).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(new Set(bodies).size).toBe(1000);
  });

  test("give every character the same number of bytes", () => {
    let next = 0;
    const text = unbiasedBase62(248, (bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = next++ % 256;
    });
    const counts = [...BASE62].map((letter) => [...text].filter((each) => each === letter).length);
    expect(counts).toEqual(BASE62.split("").map(() => 4));
  });

  test("are kept as their SHA-256", () => {
    // FIPS 180-2, appendix B.1.
    expect(createSecrets().hash("abc")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });
});
