import { describe, expect, test } from "bun:test";
import sharp, { type Sharp } from "sharp";
import { maskOfOpaque, paintMask, readPaintedMask } from "../../src/assets/decoder.ts";
import { openAssetStore } from "../../src/assets/open.ts";

/** Four pixels in a row: transparent, hardly seen, mostly seen, opaque. Their colours say nothing. */
const ALPHA = [0, 51, 204, 255];
const PIXELS = ALPHA.flatMap((alpha) => [255, 0, 128, alpha]);

const GREY = { format: "png", width: 4, height: 1, channels: 1, depth: "uchar" } as const;

function mask(encode: (image: Sharp) => Sharp): Promise<Buffer> {
  const image = sharp(new Uint8Array(PIXELS), { raw: { width: 4, height: 1, channels: 4 } });
  return encode(image).toBuffer();
}

test.each([
  ["8 bits", (image: Sharp) => image.png()],
  ["16 bits", (image: Sharp) => image.toColourspace("rgb16").png()],
  ["a palette", (image: Sharp) => image.png({ palette: true, colours: 8, dither: 0 })],
] as const)("a mask of %s is painted grey by its transparency", async (_, encode) => {
  const png = new Blob([new Uint8Array(await mask(encode))]);
  const painted = async (colour: "white" | "black") => {
    const picture = sharp(await (await paintMask(png, colour)).bytes());
    const { format, width, height, channels, depth } = await picture.metadata();
    expect({ format, width, height, channels, depth }).toEqual(GREY);
    const data = await picture.toColourspace("b-w").raw().toBuffer();
    return [...data];
  };
  // Sixteen bits are rounded to eight.
  const furthest = (values: number[], wanted: number[]) =>
    Math.max(...wanted.map((each, i) => Math.abs(each - (values[i] ?? Number.NaN))));
  expect(furthest(await painted("black"), ALPHA)).toBeLessThanOrEqual(1);
  expect(
    furthest(
      await painted("white"),
      ALPHA.map((alpha) => 255 - alpha),
    ),
  ).toBeLessThanOrEqual(1);
});

test("painted for servers of either kind, a mask is white where it is transparent, and as transparent as before", async () => {
  const png = new Blob([new Uint8Array(await mask((image) => image.png()))]);
  const picture = sharp(await (await paintMask(png, "either")).bytes());
  const { format, width, height, channels } = await picture.metadata();
  expect({ format, width, height, channels }).toEqual({ format: "png", width: 4, height: 1, channels: 4 });
  const pixels = ALPHA.flatMap((alpha) => [255 - alpha, 255 - alpha, 255 - alpha, alpha]);
  expect([...(await picture.raw().toBuffer())]).toEqual(pixels);
});

test("what is no picture is not painted", async () => {
  await expect(paintMask(new Blob(["no picture"]), "white")).rejects.toThrow();
});

test("no more masks are painted at once than files are decoded", async () => {
  const unused = { directory: "/nowhere", newTemporaryName: () => "none" };
  const store = openAssetStore({ ...unused, decodeSlots: 2 });
  const png = await mask((image) => image.png());
  const [begun, gate] = [[] as number[], Promise.withResolvers<void>()];
  const masks = [0, 1, 2].map((i) =>
    Object.assign(new Blob([]), {
      async bytes() {
        begun.push(i);
        await gate.promise;
        return new Uint8Array(png);
      },
    }),
  );
  const painting = masks.map((each) => store.paintMask(each, "black"));
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(begun).toEqual([0, 1]);
  gate.resolve();
  const wanted = await (await paintMask(new Blob([new Uint8Array(png)]), "black")).bytes();
  for (const painted of await Promise.all(painting)) expect(await painted.bytes()).toEqual(wanted);
  expect(begun).toEqual([0, 1, 2]);
});

describe("a painted mask", () => {
  /** A row of grey pixels. */
  const painted = (values: readonly number[], encode = (image: Sharp) => image.png()) =>
    encode(
      sharp(new Uint8Array(values), { raw: { width: values.length, height: 1, channels: 1 } }),
    ).toBuffer();
  const SHARP = { isInverted: false, blurPixels: 0 } as const;

  async function alphaOf(picture: Buffer, how: Parameters<typeof readPaintedMask>[1]): Promise<number[]> {
    const read = sharp(await readPaintedMask(new Blob([new Uint8Array(picture)]), how));
    const { format, hasAlpha } = await read.metadata();
    expect({ format, hasAlpha }).toEqual({ format: "png", hasAlpha: true });
    return [...(await read.extractChannel("alpha").raw().toBuffer())];
  }

  test.each([
    ["PNG", (image: Sharp) => image.png()],
    ["lossless WebP", (image: Sharp) => image.webp({ lossless: true })],
    ["PNG in colour", (image: Sharp) => image.toColourspace("srgb").png()],
  ] as const)("of %s is transparent where it is white, from half on", async (_, encode) => {
    const picture = await painted([0, 127, 128, 255], encode as (image: Sharp) => Sharp);
    expect(await alphaOf(picture, SHARP)).toEqual([255, 255, 0, 0]);
    expect(await alphaOf(picture, { ...SHARP, isInverted: true })).toEqual([0, 0, 255, 255]);
  });

  test("that is transparent somewhere is read by that: opaque counts as white", async () => {
    expect(await alphaOf(await mask((image) => image.png()), SHARP)).toEqual([255, 255, 0, 0]);
  });

  test("takes another size, and gets softer edges without moving them", async () => {
    const size = { width: 40, height: 1 };
    const [plain, soft] = await Promise.all(
      [0, 2].map(async (blurPixels) =>
        alphaOf(await painted([0, 0, 255, 255]), { isInverted: false, blurPixels, size }),
      ),
    );
    expect(new Set(plain)).toEqual(new Set([0, 255]));
    expect(plain).toHaveLength(40);
    const edge = plain!.lastIndexOf(255);
    const between = soft!.flatMap((alpha, x) => (alpha > 0 && alpha < 255 ? [x] : []));
    expect(between.length).toBeGreaterThan(2);
    expect(between).toContain(edge);
    expect([soft![0], soft![39]]).toEqual([255, 0]);
  });

  test("is refused where it is no picture", async () => {
    await expect(readPaintedMask(new Blob(["no picture"]), SHARP)).rejects.toThrow();
  });

  test("may be a mask already: only one without transparency is read by its colours", async () => {
    const clear = new Blob([new Uint8Array(await mask((image) => image.png()))]);
    expect(await maskOfOpaque(clear)).toBeUndefined();
    for (const isOpaqueAlpha of [false, true]) {
      const encode = (image: Sharp) =>
        (isOpaqueAlpha ? image.toColourspace("srgb").ensureAlpha() : image).png();
      const white = new Blob([new Uint8Array(await painted([0, 127, 128, 255], encode))]);
      const read = sharp((await maskOfOpaque(white)) ?? new Uint8Array(0));
      expect([...(await read.extractChannel("alpha").raw().toBuffer())]).toEqual([255, 255, 0, 0]);
    }
  });
});
