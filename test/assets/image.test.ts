import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import { type ImageType, checkImage as toldHow } from "../../src/assets/image.ts";
import { readJpeg } from "../../src/assets/jpeg.ts";
import { joinParts } from "../../src/assets/layout.ts";
import {
  DECODE_BYTES,
  IMAGE_MAX_PARTS,
  JPEG_MAX_SEGMENTS,
  WEBP_MAX_CHUNKS,
  WHOLE_PIXEL_BYTES,
} from "../../src/assets/limits.ts";
import { readPng } from "../../src/assets/png.ts";
import { readWebp } from "../../src/assets/webp.ts";
import type { StillType } from "../../src/domain/media/asset.ts";
import {
  type Bytes,
  bombPng,
  CANARY,
  concat,
  contains,
  insert,
  jpeg,
  picture,
  pixels,
  png,
  pngChunk,
  text,
  webp,
  withMetadata,
} from "../helpers/media.ts";

const FORMATS: [ImageType, (image: Sharp) => Sharp, isLossless: boolean][] = [
  ["image/png", (image) => image.png(), true],
  ["image/jpeg", (image) => image.jpeg({ quality: 95, chromaSubsampling: "4:4:4" }), false],
  ["image/webp", (image) => image.webp({ lossless: true }), true],
];

async function bytesOf(image: Sharp): Promise<Bytes> {
  return new Uint8Array(await image.toBuffer());
}

const checkImage = (
  file: Uint8Array,
  type: ImageType,
  sanitize: boolean | "output",
  storedAs?: StillType,
  decodeBytes = DECODE_BYTES,
) => toldHow(file, type, { sanitize, storedAs, decodeBytes });

const reason = (file: Uint8Array, type: ImageType, sanitize = false) =>
  checkImage(file, type, sanitize).then(
    () => "taken",
    (error) => error.reason,
  );

test.each(FORMATS)(
  "taking metadata out of %s changes no pixel and encodes nothing again",
  async (type, encode) => {
    const tagged = await bytesOf(encode(withMetadata(picture(40, 30))));
    const { bytes, probe } = await checkImage(tagged, type, true);
    expect(probe).toEqual({ type, width: 40, height: 30, hasAlpha: false });
    expect(contains(tagged, CANARY)).toBe(true);
    expect(contains(bytes, CANARY)).toBe(false);
    expect(bytes.length).toBeLessThan(tagged.length);
    expect(await pixels(bytes)).toEqual(await pixels(tagged));
    const { exif, xmp, format } = await sharp(bytes).metadata();
    expect({ exif, xmp, format: `image/${format}` }).toEqual({
      exif: undefined,
      xmp: undefined,
      format: type,
    });
    // A WebP's header must not promise the parts that are gone.
    if (type === "image/webp") expect((bytes[20] ?? 0) & 0x0c).toBe(0);
  },
);

test.each(FORMATS)("%s without metadata keeps its very bytes", async (type, encode) => {
  const file = await bytesOf(encode(picture(40, 30)));
  expect((await checkImage(file, type, true)).bytes).toEqual(file);
  expect((await checkImage(file, type, false)).bytes).toEqual(file);
});

test.each(FORMATS)("a colour profile stays in %s", async (type, encode) => {
  const tagged = await bytesOf(encode(withMetadata(picture(40, 30)).withIccProfile("p3")));
  const { bytes } = await checkImage(tagged, type, true);
  const { icc, exif } = await sharp(bytes).metadata();
  expect(icc).toEqual((await sharp(tagged).metadata()).icc);
  expect(icc).toBeDefined();
  expect(exif).toBeUndefined();
});

for (const [type, encode, isLossless] of FORMATS) {
  test.each([2, 3, 4, 5, 6, 7, 8])(`${type} of orientation %p is stored upright`, async (orientation) => {
    const file = await bytesOf(encode(withMetadata(picture(24, 16), orientation)));
    const expected = await sharp(file).autoOrient().ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    const { bytes, probe } = await checkImage(file, type, true);
    const { width, height } = expected.info;
    expect(probe).toEqual({ type, width, height, hasAlpha: false });
    expect((await sharp(bytes).metadata()).orientation).toBeUndefined();
    expect(contains(bytes, CANARY)).toBe(false);
    expect(largestDifference(await pixels(bytes), expected.data)).toBeLessThanOrEqual(isLossless ? 0 : 40);
    // The same file as an output is left alone; its size is the one viewers show.
    const output = await checkImage(file, type, false);
    expect({ probe: output.probe, bytes: output.bytes }).toEqual({ probe, bytes: file });
  });
}

test("an image stored upright keeps the meaning of its colours", async () => {
  const wide = await bytesOf(withMetadata(picture(24, 16), 6).withIccProfile("p3").png());
  const { bytes } = await checkImage(wide, "image/png", true);
  expect((await sharp(bytes).metadata()).icc).toEqual((await sharp(wide).metadata()).icc);
  const turned = await sharp(wide, { ignoreIcc: true }).autoOrient().ensureAlpha().raw().toBuffer();
  expect(await pixels(bytes)).toEqual(turned);

  const cmyk = await bytesOf(withMetadata(picture(24, 16), 6).toColourspace("cmyk").jpeg());
  const upright = await checkImage(cmyk, "image/jpeg", true);
  const { width, height, space } = await sharp(upright.bytes).metadata();
  expect({ width, height, space }).toEqual({ width: 16, height: 24, space: "srgb" });
  const seen = await sharp(cmyk).autoOrient().toColourspace("srgb").ensureAlpha().raw().toBuffer();
  expect(largestDifference(await pixels(upright.bytes), seen)).toBeLessThanOrEqual(40);
});

function largestDifference(one: Buffer, other: Buffer): number {
  return one.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (other[i] ?? 0))), 0);
}

test("a mask keeps its alpha channel, its hidden colours and its depth", async () => {
  const alpha = new Uint8Array(30 * 20).map((_, i) => (i % 3) * 127);
  const mask = await bytesOf(
    picture(30, 20)
      .joinChannel(Buffer.from(alpha), { raw: { width: 30, height: 20, channels: 1 } })
      .png(),
  );
  const tagged = insert(mask, 33, pngChunk("tEXt", text(`Comment\0${CANARY}`)));
  const { bytes } = await checkImage(tagged, "image/png", true);
  expect(bytes).toEqual(mask);
  expect(await pixels(bytes)).toEqual(await pixels(mask));

  const deep = await bytesOf(withMetadata(picture(30, 20), 6).toColourspace("rgb16").png());
  expect((await sharp((await checkImage(deep, "image/png", true)).bytes).metadata()).depth).toBe("ushort");
});

test("CMYK, grey, palette and interlaced files are taken", async () => {
  const cmyk = await bytesOf(picture(20, 20).toColourspace("cmyk").jpeg());
  expect(await reason(cmyk, "image/jpeg", true)).toBe("taken");
  expect(
    await reason(await bytesOf(picture(20, 20).greyscale().jpeg({ progressive: true })), "image/jpeg"),
  ).toBe("taken");
  expect(await reason(await bytesOf(picture(20, 20).png({ palette: true })), "image/png")).toBe("taken");
  expect(await reason(await bytesOf(picture(20, 20).png({ progressive: true })), "image/png")).toBe("taken");
  expect(await reason(await bytesOf(picture(20, 20, 4).webp()), "image/webp")).toBe("taken");
});

const trailing: [ImageType, () => Promise<Bytes>][] = [
  ["image/png", () => png(8, 8)],
  ["image/jpeg", () => jpeg()],
  ["image/webp", () => webp()],
];
test.each(trailing)("what follows a whole %s is dropped, wanted or not", async (type, make) => {
  const file = await make();
  const polyglot = concat(file, text("<script>alert(1)</script>PK\x03\x04"));
  expect((await checkImage(polyglot, type, true)).bytes).toEqual(file);
  expect((await checkImage(polyglot, type, false)).bytes).toEqual(file);
});

test("a second picture hidden in a JPEG's metadata goes with it", async () => {
  const file = await jpeg();
  const thumbnail = await jpeg(8, 8);
  const segment = jpegSegment(0xe1, thumbnail);
  const comment = jpegSegment(0xfe, text(CANARY));
  expect((await checkImage(insert(file, 2, segment, comment), "image/jpeg", true)).bytes).toEqual(file);
});

function jpegSegment(marker: number, content: Uint8Array): Bytes {
  const length = content.length + 2;
  return concat(new Uint8Array([0xff, marker, length >> 8, length & 0xff]), content);
}

test("animated images are refused", async () => {
  const frames = await sharp([await png(9, 9), await bytesOf(picture(9, 9).negate().png())], {
    join: { animated: true },
  })
    .webp()
    .toBuffer();
  expect(await reason(new Uint8Array(frames), "image/webp")).toBe("wrong_kind");
  const apng = insert(await png(9, 9), 33, pngChunk("acTL", new Uint8Array([0, 0, 0, 2, 0, 0, 0, 0])));
  expect(await reason(apng, "image/png")).toBe("wrong_kind");
});

test("headers that promise too much are refused without decoding", async () => {
  const wide = await jpeg();
  const frame = Buffer.from(wide).indexOf(new Uint8Array([0xff, 0xc0]));
  const huge = wide.slice();
  huge.set([0xfe, 0xff, 0xfe, 0xff], frame + 5);
  const canvas = await bytesOf(withMetadata(picture(8, 8)).webp());
  canvas.set([0xff, 0x3f, 0, 0xff, 0x3f, 0], 24);
  const files: [Uint8Array, ImageType][] = [
    [bombPng(50_000, 50_000, 1), "image/png"],
    [bombPng(16_383, 16_383), "image/png"],
    [huge, "image/jpeg"],
    [canvas, "image/webp"],
  ];
  for (const [file, type] of files) expect(await reason(file, type)).toBe("too_many_pixels");
});

test("a colour profile or a comment that unpacks to 64 MB is not unpacked", async () => {
  const bomb = deflateSync(new Uint8Array(64 * 1024 * 1024));
  const profile = insert(await png(8, 8), 33, pngChunk("iCCP", concat(text("x\0\0"), bomb)));
  expect(await reason(profile, "image/png")).toBe("damaged");
  const comment = insert(await png(8, 8), 33, pngChunk("zTXt", concat(text("x\0\0"), bomb)));
  expect((await checkImage(comment, "image/png", true)).bytes).toEqual(await png(8, 8));
});

test("a JPEG of very many scans is refused before it is decoded", async () => {
  const file = await bytesOf(picture(64, 64).jpeg({ progressive: true }));
  const scan = Buffer.from(file).lastIndexOf(new Uint8Array([0xff, 0xda]));
  const last = file.subarray(scan, -2);
  const many = insert(file, file.length - 2, ...Array(80).fill(last));
  expect(checkImage(many, "image/jpeg", false)).rejects.toThrow("is damaged: the JPEG has too many scans");
});

test.each(trailing)("no shortened %s is taken, wherever it is cut", async (type, make) => {
  const file = await make();
  for (let length = 12; length < file.length; length += 3) {
    expect({ length, reason: await reason(file.subarray(0, length), type) }).toEqual({
      length,
      reason: "damaged",
    });
  }
});

test("a changed byte in the pixels of a PNG is noticed", async () => {
  const file = await png(64, 64);
  for (let at = 60; at < file.length - 20; at += 97) {
    const changed = file.slice();
    changed[at] = (changed[at] ?? 0) ^ 0x40;
    expect(await reason(changed, "image/png")).toBe("damaged");
  }
});

/** Two bits a pixel out of a palette, with a colour in it that can be seen through, or without. */
function palettePng(transparency?: Uint8Array): Bytes {
  const header = new Uint8Array([0, 0, 0, 2, 0, 0, 0, 1, 2, 3, 0, 0, 0]);
  return concat(
    new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk("IHDR", header),
    pngChunk("PLTE", new Uint8Array([0, 0, 0, 255, 255, 255])),
    ...(transparency === undefined ? [] : [pngChunk("tRNS", transparency)]),
    pngChunk("IDAT", deflateSync(new Uint8Array([0, 0b00010000]))),
    pngChunk("IEND", new Uint8Array(0)),
  );
}

const transparencies: [string, ImageType, () => Bytes | Promise<Bytes>, boolean][] = [
  ["a PNG of colours", "image/png", () => bytesOf(picture(8, 8).png()), false],
  ["a PNG of colours and alpha", "image/png", () => bytesOf(picture(8, 8, 4).png()), true],
  ["a grey PNG", "image/png", () => bytesOf(picture(8, 8).greyscale().png()), false],
  ["a grey PNG with alpha", "image/png", () => bytesOf(picture(8, 8, 4).greyscale().png()), true],
  ["a PNG of a palette", "image/png", () => palettePng(), false],
  ["a PNG of a palette with tRNS", "image/png", () => palettePng(new Uint8Array([0])), true],
  ["a JPEG", "image/jpeg", () => bytesOf(picture(8, 8).jpeg()), false],
  ["a lossy WebP", "image/webp", () => bytesOf(picture(8, 8).webp()), false],
  ["a lossy WebP with alpha", "image/webp", () => bytesOf(picture(8, 8, 4).webp()), true],
  ["a lossless WebP", "image/webp", () => bytesOf(picture(8, 8).webp({ lossless: true })), false],
  [
    "a lossless WebP with alpha",
    "image/webp",
    () => bytesOf(picture(8, 8, 4).webp({ lossless: true })),
    true,
  ],
  [
    "a lossless WebP with alpha and an extended header",
    "image/webp",
    () => bytesOf(withMetadata(picture(8, 8, 4)).webp({ lossless: true })),
    true,
  ],
  ["a turned PNG with alpha", "image/png", () => bytesOf(withMetadata(picture(8, 4, 4), 6).png()), true],
  ["a turned WebP with alpha", "image/webp", () => bytesOf(withMetadata(picture(8, 4, 4), 6).webp()), true],
];
test.each(transparencies)("whether %s can be transparent is told, as the decoder says", async (...given) => {
  const [, type, make, expected] = given;
  const file = await make();
  expect((await sharp(file).metadata()).hasAlpha).toBe(expected);
  for (const sanitize of [false, true]) {
    expect((await checkImage(file, type, sanitize)).probe.hasAlpha).toBe(expected);
  }
});

test.each(FORMATS)(
  "damage anywhere in a %s is found, as by a decode that keeps every pixel",
  async (...given) => {
    const [type, encode] = given;
    const file = await bytesOf(encode(picture(60, 90)));
    let found = 0;
    for (let at = Math.floor(file.length / 3); at < file.length; at += Math.ceil(file.length / 60)) {
      const harmed = new Uint8Array(file);
      // In a JPEG, restarts where none belong: most other bytes are a picture too, if an ugly one.
      for (let i = at; i + 1 < Math.min(at + 8, file.length); i += 2) harmed.set([0xff, 0xd0], i);
      const options = { failOn: "warning", ignoreIcc: true } as const;
      const isFound = await sharp(harmed, options)
        .raw()
        .toBuffer()
        .then(
          () => false,
          () => true,
        );
      if (isFound) found += 1;
      // The container may be found damaged first.
      if (isFound) expect(await reason(harmed, type)).toBe("damaged");
    }
    expect(found).toBeGreaterThan(0);
  },
);

const tiny = (format: "png" | "jpeg" | "webp") =>
  sharp({ create: { width: 4, height: 4, channels: 3, background: "#3366cc" } })
    .toFormat(format)
    .toBuffer();

test("a file of more chunks or segments than a picture needs is refused before they are all looked at", async () => {
  const png = Buffer.from(await tiny("png"));
  const jpeg = Buffer.from(await tiny("jpeg"));
  const webp = Buffer.from(await tiny("webp"));
  const times = (most: number, part: Buffer) => Buffer.concat(Array.from({ length: most + 1 }, () => part));
  const emptyChunk = Buffer.from("00000000744558745f4a5b34", "hex");
  const comment = Buffer.from("fffe0002", "hex");
  const junk = times(WEBP_MAX_CHUNKS, Buffer.from("junk\0\0\0\0"));
  const riff = Buffer.concat([webp.subarray(0, 12), junk, webp.subarray(12)]);
  riff.writeUInt32LE(riff.length - 8, 4);
  const chunks = times(IMAGE_MAX_PARTS, emptyChunk);
  expect(() => readPng(Buffer.concat([png.subarray(0, 33), chunks, png.subarray(33)]))).toThrow("too many");
  const comments = times(JPEG_MAX_SEGMENTS, comment);
  expect(() => readJpeg(Buffer.concat([jpeg.subarray(0, 2), comments, jpeg.subarray(2)]))).toThrow(
    "too many",
  );
  expect(() => readWebp(riff)).toThrow("too many");
});

test("a PNG whose pixels come in very many chunks is kept whole, without the metadata between them", async () => {
  const png = Buffer.from(await tiny("png"));
  const emptyChunk = Buffer.from("00000000744558745f4a5b34", "hex");
  const noPixels = Buffer.from("000000004944415435af061e", "hex");
  const chunks = Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? emptyChunk : noPixels));
  const file = Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);
  const { clean, end } = readPng(file);
  expect(end).toBe(file.length);
  const kept = chunks.filter((chunk) => chunk === noPixels);
  expect(joinParts(clean, file)).toEqual(
    new Uint8Array(Buffer.concat([png.subarray(0, 33), ...kept, png.subarray(33)])),
  );
});

describe("a picture of another type than it is to be stored as", () => {
  test("is made anew, upright, in its colours and without metadata", async () => {
    const wide = await bytesOf(withMetadata(picture(24, 16), 6).withIccProfile("p3").png());
    const { probe, bytes, isClean } = await checkImage(wide, "image/png", "output", "image/jpeg");
    expect(probe).toEqual({ type: "image/jpeg", width: 16, height: 24, hasAlpha: false });
    expect(isClean).toBe(true);
    const { format, icc, exif } = await sharp(bytes).metadata();
    expect({ format, exif }).toEqual({ format: "jpeg", exif: undefined });
    expect(icc).toEqual((await sharp(wide).metadata()).icc);
  });

  test("is white in a JPEG where it was transparent", async () => {
    const clear = sharp({ create: { width: 4, height: 4, channels: 4, background: "#00000000" } });
    const { bytes } = await checkImage(await bytesOf(clear.png()), "image/png", "output", "image/jpeg");
    expect(new Set(await sharp(bytes).raw().toBuffer())).toEqual(new Set([255]));
  });

  test("stays what it is where it cannot be that: WebP has 16,383 pixels a side", async () => {
    const long = sharp({ create: { width: 16_384, height: 1, channels: 3, background: "red" } });
    const { probe } = await checkImage(await bytesOf(long.png()), "image/png", "output", "image/webp");
    expect(probe).toMatchObject({ type: "image/png", width: 16_384 });
  });
});

describe("with memory for 100 pixels", () => {
  const bytes = 100 * WHOLE_PIXEL_BYTES;
  const red = sharp({ create: { width: 11, height: 10, channels: 3, background: "red" } });
  const WHOLE: [string, ImageType, Sharp][] = [
    ["WebP", "image/webp", red.clone().webp()],
    ["an interlaced PNG", "image/png", red.clone().png({ progressive: true })],
    ["a JPEG in several scans", "image/jpeg", red.clone().jpeg({ progressive: true })],
    ["a picture that is to be turned", "image/jpeg", red.clone().withMetadata({ orientation: 6 }).jpeg()],
  ];

  test.each(WHOLE)("%s of 110 is refused as an input, and told how many fit", async (_, type, image) => {
    const file = await bytesOf(image);
    expect(checkImage(file, type, true, undefined, bytes)).rejects.toThrow(
      "is 11×10 pixels, and this server has memory for 0 million pixels; of PNG without interlace",
    );
    const { probe } = await checkImage(file, type, true, undefined, 110 * WHOLE_PIXEL_BYTES);
    expect(probe.width * probe.height).toBe(110);
  });

  test.each(WHOLE)("%s of 110 stays as it was made as an output", async (_, type, image) => {
    const file = await bytesOf(image);
    expect((await checkImage(file, type, "output", undefined, bytes)).bytes).toEqual(file);
    expect((await checkImage(file, type, "output", "image/png", bytes)).probe.type).toBe(type);
  });

  test("what is decoded row by row is taken", async () => {
    const [png, jpeg] = [await bytesOf(red.clone().png()), await bytesOf(red.clone().jpeg())];
    expect((await checkImage(png, "image/png", true, undefined, bytes)).probe.width).toBe(11);
    expect((await checkImage(jpeg, "image/jpeg", true, undefined, bytes)).probe.width).toBe(11);
  });
});
