import type { Sharp, SharpOptions } from "sharp";
import type { StillType } from "../domain/media/asset.ts";
import { MediaError, type PaintedMask } from "../domain/ports/asset-store.ts";
import type { MaskPaint } from "../domain/ports/provider.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { isShortage } from "../toolkit/shortage.ts";
import { IMAGE_DECODE_SECONDS, IMAGE_MAX_PIXELS } from "./limits.ts";
import { loadSharp } from "./load-sharp.ts";
import { damaged } from "./refusals.ts";

const STRICT: SharpOptions = {
  failOn: "warning",
  limitInputPixels: IMAGE_MAX_PIXELS,
  unlimited: false,
  sequentialRead: true,
  // Ignore the profile: it costs time, is untrusted input too, and nobody looks at the colours here.
  ignoreIcc: true,
};

async function openImage(file: Uint8Array, options: SharpOptions = STRICT): Promise<Sharp> {
  const sharp = await loadSharp();
  // Every file is read once; keeping decoded pictures would only hold memory.
  sharp.cache(false);
  return sharp(file, options).timeout({ seconds: IMAGE_DECODE_SECONDS });
}

/**
 * Decodes every pixel and keeps none. The formats can only be read from the top, so asking for the last row makes libvips decode
 * all rows and hold few. (A shrinking decode is faster and misses damage in the last rows.)
 *
 * @param size as coded, before any orientation
 * @throws MediaError when any part of the picture cannot be decoded
 */
export async function decodeAll(file: Uint8Array, size: { width: number; height: number }): Promise<void> {
  const image = await openImage(file);
  const lastRow = { left: 0, top: size.height - 1, width: size.width, height: 1 };
  await decoding(() => image.extract(lastRow).raw().toBuffer());
}

/** What an image is, and what it is to be. */
export interface Encoding {
  readonly type: StillType;
  readonly storedAs: StillType;
  /** As EXIF has it. */
  readonly orientation: number;
  readonly isCmyk: boolean;
}

/**
 * Encodes an image without metadata again, turned as its EXIF orientation asked. Lossless as PNG, and as WebP of lossless WebP. What is
 * transparent becomes white in a JPEG.
 */
export async function encodeAnew(
  file: Uint8Array,
  { type, storedAs, orientation, isCmyk }: Encoding,
): Promise<{ bytes: Uint8Array; width: number; height: number }> {
  // CMYK is converted by its profile, as the result is RGB; everything else keeps its numbers and its profile.
  let image = await openImage(file, { ...STRICT, ignoreIcc: !isCmyk });
  const { depth } = await decoding(() => image.metadata());
  if (!isCmyk) image = image.keepIccProfile();
  const { angle, flip, flop } = TURNS[orientation - 1] ?? TURNS[0];
  image = image.rotate(angle).flip(flip).flop(flop);
  if (storedAs === "image/png") image = (depth === "ushort" ? image.toColourspace("rgb16") : image).png();
  if (storedAs === "image/jpeg")
    image = image.flatten({ background: "white" }).jpeg({ quality: 95, chromaSubsampling: "4:4:4" });
  if (storedAs === "image/webp")
    image = image.webp({ lossless: type === "image/webp" && isLosslessWebp(file), quality: 95 });
  const { data, info } = await decoding(() => image.toBuffer({ resolveWithObject: true }));
  return {
    bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    width: info.width,
    height: info.height,
  };
}

/**
 * A mask as a grey picture, as large as before: this colour where the mask is transparent, the other one where it is opaque; with
 * `either`, white and as transparent as before.
 *
 * @throws MediaError when it cannot be decoded
 */
export async function paintMask(mask: Blob, paint: MaskPaint): Promise<Blob> {
  const image = (await openImage(await mask.bytes())).ensureAlpha();
  // Transparency as brightness is black where a mask is transparent.
  const grey = (paint === "black" ? image : image.negate()).extractChannel("alpha").toColourspace("b-w");
  const painted = paint === "either" ? await seeThrough(grey) : grey;
  const bytes = await decoding(() => painted.png().toBuffer());
  return new Blob([new Uint8Array(bytes)], { type: "image/png" });
}

/** Grey that is transparent as far as it is white, in the four channels that some servers insist on. */
async function seeThrough(grey: Sharp): Promise<Sharp> {
  const { data, info } = await decoding(() => grey.raw().toBuffer({ resolveWithObject: true }));
  const raw = { width: info.width, height: info.height, channels: 1 } as const;
  const sharp = await loadSharp();
  const alpha = await decoding(() => sharp(data, { raw }).negate().toColourspace("b-w").raw().toBuffer());
  return sharp(data, { raw }).joinChannel([data, data, alpha], { raw }).toColourspace("srgb");
}

/**
 * The mask that a painted picture stands for, as PNG: transparent where it is white, or where it is black if `isInverted`. Of a picture
 * with transparency, its opaque parts count as white. Greys are black below half.
 *
 * @throws MediaError when it cannot be decoded
 */
export async function readPaintedMask(
  picture: Blob,
  { isInverted, blurPixels, size }: PaintedMask,
): Promise<Uint8Array> {
  const bytes = await picture.bytes();
  const hasAlpha = await isSeeThrough(bytes);
  const opened = await openImage(bytes);
  const grey = hasAlpha ? opened.extractChannel("alpha") : opened.flatten().greyscale();
  const fitted = size === undefined ? grey : grey.resize({ ...size, fit: "fill" });
  const bright = fitted.toColourspace("b-w").threshold(128);
  const kept = await decoding(() =>
    (isInverted ? bright : bright.negate()).raw().toBuffer({ resolveWithObject: true }),
  );
  const { width, height } = kept.info;
  const raw = { width, height, channels: 1 } as const;
  const sharp = await loadSharp();
  const plain = sharp(kept.data, { raw }).toColourspace("b-w");
  // libvips blurs by 0.3 at least.
  const soft = blurPixels < 0.3 ? plain : plain.blur(blurPixels);
  const alpha = await decoding(() => soft.toColourspace("b-w").raw().toBuffer());
  const black = sharp({ create: { width, height, channels: 3, background: "black" } });
  return decoding(() => black.joinChannel(alpha, { raw }).png().toBuffer());
}

/** As `readPaintedMask` for a picture without transparency. @returns undefined for one that has some */
export async function maskOfOpaque(picture: Blob): Promise<Uint8Array | undefined> {
  if (await isSeeThrough(await picture.bytes())) return undefined;
  return readPaintedMask(picture, { isInverted: false, blurPixels: 0 });
}

/** Whether a picture has transparency anywhere. */
async function isSeeThrough(bytes: Uint8Array): Promise<boolean> {
  const { hasAlpha } = await decoding(async () => (await openImage(bytes)).metadata());
  if (hasAlpha !== true) return false;
  return !(await decoding(async () => (await openImage(bytes)).stats())).isOpaque;
}

/** What undoes EXIF orientations 1 to 8, as sharp applies it: mirrored, then turned. */
const TURNS = [
  { angle: 0, flip: false, flop: false },
  { angle: 0, flip: false, flop: true },
  { angle: 180, flip: false, flop: false },
  { angle: 0, flip: true, flop: false },
  { angle: 270, flip: false, flop: true },
  { angle: 90, flip: false, flop: false },
  { angle: 90, flip: false, flop: true },
  { angle: 270, flip: false, flop: false },
] as const;

function isLosslessWebp(file: Uint8Array): boolean {
  return Buffer.from(file.buffer, file.byteOffset, file.byteLength).indexOf("VP8L") !== -1;
}

async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("timeout")) {
      throw new MediaError("too_many_pixels", "takes too long to decode", error);
    }
    // The picture is not the cause.
    if (isShortage(error)) throw new StorageError("busy", "An image could not be decoded.", error);
    throw damaged("it cannot be decoded", error);
  }
}
