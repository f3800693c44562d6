import { expect, test } from "bun:test";
import fc from "fast-check";
import { createBase64Decoder } from "../../src/toolkit/base64.ts";

/** Decodes a text in pieces. */
function decode(pieces: readonly string[]): Buffer | undefined {
  const decoder = createBase64Decoder();
  const bytes = pieces.map((piece) => decoder.decode(piece));
  const last = decoder.end()?.bytes;
  return last === undefined
    ? undefined
    : Buffer.concat([...bytes.map((each) => each ?? Buffer.alloc(0)), last]);
}

test("whatever the pieces, the bytes are those of the whole text, padded or not", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1 }),
      fc.array(fc.nat(50)),
      fc.boolean(),
      (bytes, cuts, isPadded) => {
        const text = Buffer.from(bytes)
          .toString("base64")
          .replace(isPadded ? "" : /=+$/, "");
        const pieces: string[] = [];
        let from = 0;
        for (const length of cuts) {
          pieces.push(text.slice(from, from + length));
          from += length;
        }
        expect(decode([...pieces, text.slice(from)])).toEqual(Buffer.from(bytes));
      },
    ),
  );
});

test("the alphabet of URLs, broken lines and white space at either end mean the same", () => {
  const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(3_001)));
  const text = bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
  const lined = ` ${text.replace(/.{76}/g, "$&\r\n")}\n`;
  for (const pieces of [[text], [lined], [...lined], [lined, "\n", ""], [text.slice(0, -1), "\n", "="]]) {
    expect(decode(pieces)).toEqual(bytes);
  }
});

test("what is not base64 is refused, wherever the fault is", () => {
  const faults = [
    "",
    "A",
    "AAAAA",
    "AA=",
    "A===",
    "AAA==",
    "AAAA=",
    "AA==AAAA",
    "AAAA A",
    "AAAA%___",
    "AAAA\u00a0AAAA",
    "====",
    "\n",
    "AA==\nAAAA",
  ];
  for (const text of faults) {
    expect(decode([text])).toBeUndefined();
    expect(decode([...text])).toBeUndefined();
  }
});
