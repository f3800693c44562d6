import { readFile } from "node:fs/promises";
import type { Sharp } from "sharp";
import { type ImageSource, InputInvalidError } from "./render-job.ts";

/** No image is decoded to a longer side. */
export const LARGEST_SIDE = 4096;

/** Straight RGBA pixels. */
export interface Pixels {
  readonly rgba: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Decodes an image, upright and in sRGB. @throws InputInvalidError when the bytes are no image
 *
 * @param name how the caller knows it: "input image 1"
 * @param size both sides: cropped to cover them; absent: the image's own size, at most `within` a side
 */
export async function loadImage(
  source: ImageSource,
  name: string,
  size?: { width: number; height: number },
  within = LARGEST_SIDE,
): Promise<Pixels> {
  return raw(await openImage(source, name, size, within), name);
}

/** Decodes an image to the largest size that fits inside the given one. @throws InputInvalidError */
export async function loadInside(
  source: ImageSource,
  name: string,
  size: { width: number; height: number },
): Promise<Pixels> {
  const image = await decoder(source);
  return raw(image.resize(size.width, size.height, { fit: "inside" }), name);
}

async function openImage(
  source: ImageSource,
  name: string,
  size: { width: number; height: number } | undefined,
  within: number,
): Promise<Sharp> {
  const image = await decoder(source);
  if (size !== undefined) return image.resize(size.width, size.height, { fit: "cover" });
  const facts = await image.metadata().catch(unreadable(name));
  const tooLarge = Math.max(facts.width, facts.height) > within;
  return tooLarge ? image.resize(within, within, { fit: "inside" }) : image;
}

async function decoder(source: ImageSource): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  return sharp(await bytesOf(source), { limitInputPixels: 64_000_000, pages: 1, failOn: "truncated" })
    .autoOrient()
    .toColourspace("srgb");
}

/** The file is read here, because the decoder would report an unreadable one as damaged. */
export async function bytesOf(source: ImageSource): Promise<Uint8Array> {
  return typeof source === "string" ? readFile(source) : source;
}

async function raw(image: Sharp, name: string): Promise<Pixels> {
  const pixels = image.ensureAlpha().raw({ depth: "uchar" });
  const { data, info } = await pixels.toBuffer({ resolveWithObject: true }).catch(unreadable(name));
  return { rgba: data, width: info.width, height: info.height };
}

/** Pictures of at least this size are not left to the garbage collector, which sees only the few bytes that describe them. */
const LARGE_BYTES = 16 * 1024 * 1024;

/** Frees pictures of this size that earlier steps left behind: a collection finds them, and the next turn returns their memory. */
export async function freeMemory({ rgba }: Pixels): Promise<void> {
  if (rgba.length < LARGE_BYTES) return;
  Bun.gc(true);
  await new Promise((resolve) => setImmediate(resolve));
  Bun.gc(true);
}

/** Takes the error of a decoder. @param name of the image, as the caller knows it */
export function unreadable(name: string) {
  return (cause: unknown): never => {
    throw new InputInvalidError(`The ${name} could not be read: it is damaged or not an image.`, { cause });
  };
}
