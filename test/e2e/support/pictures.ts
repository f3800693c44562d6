import sharp from "sharp";

/** A picture of one colour. */
export async function plainImage(
  width: number,
  height: number,
  options: { colour?: string; format?: "png" | "jpeg" | "webp" } = {},
): Promise<Uint8Array> {
  const create = { width, height, channels: 3 as const, background: options.colour ?? "#3366cc" };
  return sharp({ create })
    .toFormat(options.format ?? "png")
    .toBuffer();
}

/** A picture that does not compress: a file of three bytes a pixel. */
export async function noisePng(width: number, height: number): Promise<Uint8Array> {
  const pixels = Buffer.alloc(width * height * 3);
  // A source of randomness gives 64 KB at a time.
  for (let at = 0; at < pixels.length; at += 65_536) crypto.getRandomValues(pixels.subarray(at, at + 65_536));
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

/** A mask that is transparent on its left half and opaque on its right. */
export async function leftHalfMask(width: number, height: number): Promise<Uint8Array> {
  const pixels = Buffer.alloc(width * height * 4, 255);
  for (let y = 0; y < height; y++) for (let x = 0; x < width / 2; x++) pixels[(y * width + x) * 4 + 3] = 0;
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

export function dataUri(bytes: Uint8Array, type = "image/png"): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

/** What a decoder says of a picture, having decoded all of it. */
export async function decode(
  bytes: Uint8Array,
): Promise<{ format: string; width: number; height: number; pixels: Uint8Array }> {
  const image = sharp(bytes, { failOn: "warning" });
  const { format } = await image.metadata();
  const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { format: String(format), width: info.width, height: info.height, pixels: data };
}

/** Red, green and blue at a place. */
export function colourAt(picture: { width: number; pixels: Uint8Array }, x: number, y: number): number[] {
  const at = (y * picture.width + x) * 3;
  return [...picture.pixels.subarray(at, at + 3)];
}
