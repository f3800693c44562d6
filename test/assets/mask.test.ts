import { expect, test } from "bun:test";
import sharp, { type Sharp } from "sharp";
import { paintMask } from "../../src/assets/decoder.ts";
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
