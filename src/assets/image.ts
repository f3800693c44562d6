import type { MediaProbe, StillType } from "../domain/media/asset.ts";
import { MediaError, type PutOptions } from "../domain/ports/asset-store.ts";
import { decodeAll, encodeAnew } from "./decoder.ts";
import { cleanSvgInThread } from "./file-thread.ts";
import { checkGifFrames, readGif } from "./gif.ts";
import { readJpeg } from "./jpeg.ts";
import { type ImageLayout, joinParts } from "./layout.ts";
import { IMAGE_MAX_PIXELS, IMAGE_MAX_SIDE, WHOLE_PIXEL_BYTES } from "./limits.ts";
import { checkColourProfile, readPng } from "./png.ts";
import { damaged, tooManyPixels } from "./refusals.ts";
import { isWholeSmallPng } from "./small-png.ts";
import { readWebp } from "./webp.ts";

export type ImageType = StillType | "image/gif" | "image/svg+xml";

export interface CheckedImage {
  readonly probe: MediaProbe;
  /** What to store: `file` itself when nothing had to be removed. */
  readonly bytes: Uint8Array;
  /** Its metadata was removed. */
  readonly isClean: boolean;
}

const READERS = {
  "image/png": readPng,
  "image/jpeg": readJpeg,
  "image/webp": readWebp,
} as const satisfies Record<StillType, (file: Uint8Array) => ImageLayout>;

/** How an image is checked. */
export interface ImageCheck extends Pick<PutOptions, "sanitize" | "storedAs"> {
  /** Memory for one that is decoded as a whole. */
  readonly decodeBytes: number;
}

/**
 * Proves that a file is one whole image within the limits. Removes all metadata where it is to, unless it is an output that is signed. A
 * drawing is always made anew of what is harmless.
 *
 * @throws MediaError
 */
export function checkImage(file: Uint8Array, type: ImageType, check: ImageCheck): Promise<CheckedImage> {
  switch (type) {
    case "image/gif":
      return checkGif(file, check.sanitize);
    case "image/svg+xml":
      return checkSvg(file);
    default:
      return checkStill(file, type, check);
  }
}

async function checkSvg(file: Uint8Array): Promise<CheckedImage> {
  const { bytes, width, height } = await cleanSvgInThread(file);
  return { probe: { type: "image/svg+xml", width, height, hasAlpha: true }, bytes, isClean: true };
}

async function checkGif(file: Uint8Array, sanitize: PutOptions["sanitize"]): Promise<CheckedImage> {
  const layout = readGif(file);
  refuseLarge(layout);
  await checkGifFrames(file, layout);
  const { width, height, durationMs, hasAlpha } = layout;
  const probe: MediaProbe = {
    type: "image/gif",
    width,
    height,
    ...(durationMs !== undefined && { durationMs }),
    hasAlpha,
  };
  const isClean = sanitize === "output" ? !layout.isSigned : sanitize;
  return { probe, bytes: isClean ? joinParts(layout.clean, file) : file.subarray(0, layout.end), isClean };
}

/**
 * Proves that a file is one whole still image within the limits, from its headers and then by decoding every pixel. Drops bytes
 * after the image. Encodes again only one that is to lose metadata which turns or mirrors it, or that is to be of another type. An output for
 * which there is too little memory stays as its maker wrote it.
 *
 * @throws MediaError
 */
async function checkStill(file: Uint8Array, type: StillType, check: ImageCheck): Promise<CheckedImage> {
  const layout = READERS[type](file);
  refuseLarge(layout);
  if (layout.profile !== undefined) await checkColourProfile(layout.profile);
  const { sanitize, storedAs = type } = check;
  const { width, height, orientation } = layout;
  const seen = orientation >= 5 ? { width: height, height: width } : { width, height };
  const probe = { type, ...seen, hasAlpha: layout.hasAlpha };
  const asMade = { probe, bytes: file.subarray(0, layout.end), isClean: false };
  const isClean = sanitize === "output" ? !layout.isSigned : sanitize;
  const isAnew = storedAs !== type || (isClean && orientation !== 1);
  if ((layout.isWhole || isAnew) && width * height * WHOLE_PIXEL_BYTES > check.decodeBytes) {
    if (sanitize === true) throw tooLittleMemory(layout, check.decodeBytes);
    return asMade;
  }
  const clean = joinParts(layout.clean, file);
  if (type !== "image/png" || !isWholeSmallPng(clean)) await decodeAll(clean, layout);
  const other = storedAs === type ? undefined : await asOther(clean, type, storedAs, layout);
  if (other !== undefined) return other;
  if (!isClean) return asMade;
  return orientation === 1 ? { probe, bytes: clean, isClean } : madeAnew(clean, type, type, layout);
}

function tooLittleMemory({ width, height }: ImageLayout, decodeBytes: number): MediaError {
  const most = Math.floor(decodeBytes / WHOLE_PIXEL_BYTES / 100_000) / 10;
  const how = `${most} million pixels; of PNG without interlace and JPEG with one scan, both upright, more`;
  return new MediaError(
    "too_many_pixels",
    `is ${width}×${height} pixels, and this server has memory for ${how}`,
  );
}

/** An image as another type; undefined where it cannot be that, as one that is too wide: it is worth more than its type. */
async function asOther(...given: Parameters<typeof madeAnew>): Promise<CheckedImage | undefined> {
  try {
    return await madeAnew(...given);
  } catch (error) {
    if (error instanceof MediaError) return undefined;
    throw error;
  }
}

async function madeAnew(
  clean: Uint8Array,
  type: StillType,
  storedAs: StillType,
  { orientation, isCmyk }: ImageLayout,
): Promise<CheckedImage> {
  const { bytes, ...size } = await encodeAnew(clean, { type, storedAs, orientation, isCmyk });
  const { hasAlpha } = READERS[storedAs](bytes);
  return { probe: { type: storedAs, ...size, hasAlpha }, bytes, isClean: true };
}

function refuseLarge({ width, height }: ImageLayout): void {
  if (width === 0 || height === 0) throw damaged("it has no pixels");
  if (Math.max(width, height) > IMAGE_MAX_SIDE)
    throw tooManyPixels(width, height, `${IMAGE_MAX_SIDE} a side`);
  if (width * height > IMAGE_MAX_PIXELS)
    throw tooManyPixels(width, height, `${IMAGE_MAX_PIXELS / 1_000_000} million`);
}
