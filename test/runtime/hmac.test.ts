import { expect, test } from "bun:test";
import { createHmac as libraryHmac } from "node:crypto";
import fc from "fast-check";
import { createHmac } from "../../src/runtime/hmac.ts";

test("a text is signed as by any other HMAC-SHA256, whatever was signed before it", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 1 }),
      (key, texts) => {
        const sign = createHmac(key);
        for (const text of [...texts, "é".repeat(200), "€".repeat(200), "😀".repeat(100), "a".repeat(5_000)])
          expect(sign(text)).toBe(libraryHmac("sha256", key).update(text).digest("base64url"));
      },
    ),
  );
});
