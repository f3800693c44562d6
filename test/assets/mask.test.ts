import { expect, test } from "bun:test";
import sharp, { type Sharp } from "sharp";
import { paintMask } from "../../src/assets/decoder.ts";

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

test("what is no picture is not painted", async () => {
  await expect(paintMask(new Blob(["no picture"]), "white")).rejects.toThrow();
});
