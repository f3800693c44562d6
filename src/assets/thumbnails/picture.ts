import type { Sharp, SharpOptions } from "sharp";
import { IMAGE_DECODE_SECONDS, IMAGE_MAX_PIXELS } from "../limits.ts";
import { loadSharp } from "../load-sharp.ts";

const OPTIONS: SharpOptions = {
  failOn: "warning",
  limitInputPixels: IMAGE_MAX_PIXELS,
  unlimited: false,
  sequentialRead: true,
  // The first frame of an animation.
  pages: 1,
};

/** Above this width, the encoder's faster way saves more time than its larger files cost. */
const CAREFUL_WIDTH = 320;

/** The thumbnail of an image. @param file its path, or its bytes @throws Error when it cannot be decoded */
export async function shrinkImage(file: string | Uint8Array, width: number): Promise<Uint8Array> {
  const sharp = await openSharp();
  try {
    return await shrink(sharp(file, OPTIONS).autoOrient(), width);
  } catch {
    // A colour profile that cannot be read spoils no picture; its numbers are taken for sRGB.
    return await shrink(sharp(file, { ...OPTIONS, ignoreIcc: true }).autoOrient(), width);
  }
}

/** The thumbnail of pixels: red, green, blue. */
export async function shrinkPixels(
  rgb: Uint8Array,
  size: { readonly width: number; readonly height: number },
  width: number,
): Promise<Uint8Array> {
  const sharp = await openSharp();
  return shrink(sharp(rgb, { raw: { ...size, channels: 3 } }), width);
}

/** The library that reads and writes pictures. */
export async function openSharp() {
  const sharp = await loadSharp();
  // Every file is read once; keeping decoded pictures would only hold memory.
  sharp.cache(false);
  return sharp;
}

/** In sRGB and without metadata, which is what sharp makes unless told otherwise. */
async function shrink(image: Sharp, width: number): Promise<Uint8Array> {
  const bytes = await image
    .timeout({ seconds: IMAGE_DECODE_SECONDS })
    .resize({ width, height: 2 * width, fit: "inside", withoutEnlargement: true })
    .webp({ quality: 80, effort: width > CAREFUL_WIDTH ? 0 : 2 })
    .toBuffer();
  return new Uint8Array(bytes);
}
