import { expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { decodeAll } from "../../src/assets/decoder.ts";
import { isWholeSmallPng } from "../../src/assets/small-png.ts";

const [WIDTH, HEIGHT] = [7, 5];
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, content: Uint8Array | readonly number[] = []): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), Buffer.from(content)]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(typed.length - 4, 0);
  frame.writeUInt32BE(Bun.hash.crc32(typed), 4);
  return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
}

function header({
  width = WIDTH,
  height = HEIGHT,
  depth = 8,
  colours = 2,
  methods = [0, 0, 0],
} = {}): Buffer {
  const content = Buffer.alloc(13);
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  content.set([depth, colours, ...methods], 8);
  return chunk("IHDR", content);
}

const rows = (rowBytes = WIDTH * 3 + 1, count = HEIGHT) =>
  Buffer.from({ length: rowBytes * count } as ArrayLike<number>).map((_, i) =>
    i % rowBytes === 0 ? (i / rowBytes) % 5 : (i * 37) % 256,
  );
const pixels = (bytes: Uint8Array = rows()) => chunk("IDAT", deflateSync(bytes));
const end = chunk("IEND");
const file = (...chunks: Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);
const split = (bytes: Uint8Array) => [
  chunk("IDAT", bytes.subarray(0, 9)),
  chunk("IDAT"),
  chunk("IDAT", bytes.subarray(9)),
];

const takes = (png: Uint8Array, size = { width: WIDTH, height: HEIGHT }) =>
  decodeAll(png, size).then(
    () => true,
    () => false,
  );

const whole: [string, Buffer][] = [
  ["colour", file(header(), pixels(), end)],
  ["grey", file(header({ colours: 0 }), pixels(rows(WIDTH + 1)), end)],
  ["grey with alpha", file(header({ colours: 4 }), pixels(rows(WIDTH * 2 + 1)), end)],
  ["colour with alpha", file(header({ colours: 6 }), pixels(rows(WIDTH * 4 + 1)), end)],
  ["pixels in several chunks", file(header(), ...split(deflateSync(rows())), end)],
  [
    "sRGB and a density",
    file(header(), chunk("sRGB", [0]), chunk("pHYs", [0, 0, 11, 19, 0, 0, 11, 19, 1]), pixels(), end),
  ],
];
test.each(whole)("a small PNG of %s is decoded here, as by the decoder", async (_, png) => {
  expect(isWholeSmallPng(png)).toBe(true);
  expect(await takes(png)).toBe(true);
});

const left: [string, Buffer][] = [
  ["one row too few", file(header(), pixels(rows(undefined, HEIGHT - 1)), end)],
  ["half a row too few", file(header(), pixels(rows().subarray(0, -5)), end)],
  ["one row too many", file(header(), pixels(rows(undefined, HEIGHT + 1)), end)],
  ["a filter that there is not", file(header(), pixels(rows().fill(5, 0, 1)), end)],
  ["pixels that are cut short", file(header(), chunk("IDAT", deflateSync(rows()).subarray(0, -6)), end)],
  ["pixels without their checksum", file(header(), chunk("IDAT", deflateSync(rows()).subarray(0, -4)), end)],
  [
    "more after its pixels",
    file(header(), chunk("IDAT", Buffer.concat([deflateSync(rows()), Buffer.from("more")])), end),
  ],
  ["no pixels", file(header(), end)],
  ["empty pixels", file(header(), chunk("IDAT"), end)],
  ["no end", file(header(), pixels())],
  ["an end with content", file(header(), pixels(), chunk("IEND", [0]))],
  ["more after its end", file(header(), pixels(), end, end)],
  ["two headers", file(header(), header(), pixels(), end)],
  ["no header first", file(pixels(), header(), end)],
  ["a chunk of another kind", file(header(), chunk("tEXt", [65, 0, 65]), pixels(), end)],
  ["a critical chunk that nobody knows", file(header(), chunk("ABCD"), pixels(), end)],
  ["a density twice", file(header(), ...Array(2).fill(chunk("pHYs", Array(9).fill(1))), pixels(), end)],
  ["a density that is too short", file(header(), chunk("pHYs", [1]), pixels(), end)],
  ["a rendering intent that there is not", file(header(), chunk("sRGB", [4]), pixels(), end)],
  ["sRGB after its pixels", file(header(), pixels(), chunk("sRGB", [0]), end)],
  ["interlacing", file(header({ methods: [0, 0, 1] }), pixels(), end)],
  ["another compression", file(header({ methods: [1, 0, 0] }), pixels(), end)],
  ["other filters", file(header({ methods: [0, 1, 0] }), pixels(), end)],
  ["a palette", file(header({ colours: 3 }), chunk("PLTE", [0, 0, 0]), pixels(rows(WIDTH + 1)), end)],
  ["sixteen bits", file(header({ depth: 16 }), pixels(rows(WIDTH * 6 + 1)), end)],
  ["no width", file(header({ width: 0 }), pixels(rows(1)), end)],
  ["no height", file(header({ height: 0 }), pixels(Buffer.alloc(0)), end)],
  ["a huge width", file(header({ width: 0xffff_ffff }), pixels(), end)],
  ["many pixels", file(header({ width: 200, height: 200 }), pixels(rows(601, 200)), end)],
  ["nothing but its signature", SIGNATURE],
];
test.each(left)("a PNG with %s is left to the decoder", (_, png) => {
  expect(isWholeSmallPng(png)).toBe(false);
});

test("a byte that is another one, or missing, is always found", async () => {
  for (const [, png] of whole) {
    for (let at = 8; at < png.length; at++) {
      const changed = Buffer.from(png);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(isWholeSmallPng(changed)).toBe(false);
      expect(isWholeSmallPng(png.subarray(0, at))).toBe(false);
    }
  }
});

test("what common encoders write is decoded here", async () => {
  const picture = sharp({ create: { width: 40, height: 30, channels: 4, background: "#12345678" } });
  expect(isWholeSmallPng(await picture.clone().png().toBuffer())).toBe(true);
  expect(
    isWholeSmallPng(await picture.clone().removeAlpha().png({ adaptiveFiltering: true }).toBuffer()),
  ).toBe(true);
  expect(isWholeSmallPng(await picture.clone().png({ palette: true }).toBuffer())).toBe(false);
});
