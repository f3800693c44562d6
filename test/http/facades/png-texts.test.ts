import { expect, test } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import { readInfotext } from "../../../src/http/facades/sdapi/infotext.ts";
import { textsOf } from "../../../src/http/facades/sdapi/png-text.ts";

const HEADER = [0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0];
const KB_256 = 256 * 1024;

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

function png(...chunks: readonly Buffer[]): Buffer {
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", Buffer.from(HEADER)), ...chunks]);
}

const plain = (keyword: string, text: string) => chunk("tEXt", Buffer.from(`${keyword}\0${text}`));
const compressed = (keyword: string, text: string) =>
  chunk("zTXt", Buffer.concat([Buffer.from(`${keyword}\0\0`), deflateSync(text)]));

test("texts are read by their keywords, the first of each", () => {
  const file = png(plain("one", "a"), compressed("two", "b"), chunk("IDAT", Buffer.of(1)), plain("one", "c"));
  expect(Object.fromEntries(textsOf(file))).toEqual({ one: "a", two: "b" });
});

test("a file becomes no more than sixty-four texts, of 256 KiB together", () => {
  const many = Array.from({ length: 100 }, (_, i) => compressed(`${i}`, "a"));
  expect(textsOf(png(...many)).size).toBe(64);
  const large = Array.from({ length: 64 }, (_, i) =>
    compressed(`${i}`, "a".repeat(KB_256 / 4 + (i === 1 ? 1 : 0))),
  );
  expect([...textsOf(png(...large)).keys()]).toEqual(["0", "1", "2"]);
  const tooLarge = [compressed("a", "a".repeat(KB_256 + 1)), plain("b", "a".repeat(KB_256 + 1))];
  expect([...textsOf(png(...tooLarge, plain("c", "a"))).keys()]).toEqual(["c"]);
});

test("texts after ten thousand chunks are left out", () => {
  const pixels = Array.from({ length: 9_998 }, () => chunk("IDAT", Buffer.of()));
  expect(textsOf(png(...pixels, plain("a", "b"))).size).toBe(1);
  expect(textsOf(png(...pixels, chunk("IDAT", Buffer.of()), plain("a", "b"))).size).toBe(0);
});

test("parameters are read with values that are quoted, and names of several words", () => {
  expect(
    readInfotext('A fox\nNegative prompt: red\nSteps: 12, CFG scale: 7.5, Note: "a, \\"b\\"", Odd: "a" b'),
  ).toEqual({
    ...{ Prompt: "A fox", "Negative prompt": "red", Steps: "12" },
    ...{ "CFG scale": "7.5", Note: 'a, "b"', Odd: '"a" b' },
  });
  expect(readInfotext("A fox: red")).toEqual({ Prompt: "A fox: red", "Negative prompt": "" });
});

test.each([
  ["spaces", `x${" ".repeat(4_000)}x`],
  ["names", `${"a ".repeat(3_000)}, a: b`],
  ["quotes", 'a:"\\"'.repeat(40_000)],
  ["values without an end", 'a: "'.repeat(50_000)],
])("a long text of %s is read without delay", (_, text) => {
  expect(readInfotext(text)).toMatchObject({ "Negative prompt": "" });
});

test("a last line of more than 32 KiB is of the prompt", () => {
  const line = (length: number) => `Steps: 1, Seed: 2, Note: ${"b".repeat(length - 25)}`;
  expect(readInfotext(`A fox\n${line(32 * 1024)}`)).toMatchObject({ Prompt: "A fox", Seed: "2" });
  const long = `A fox\n${line(32 * 1024 + 1)}`;
  expect(readInfotext(long)).toEqual({ Prompt: long, "Negative prompt": "" });
});
