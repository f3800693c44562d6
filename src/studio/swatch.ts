import { choosePalette, shade } from "./palette.ts";
import { createRandom } from "./random.ts";
import type { PictureJob, Rendered, RenderJob } from "./render-job.ts";

const LONGEST_SIDE = 16;

/** Whether a picture is too small for a drawing. */
export function isSwatch({ width, height }: Pick<PictureJob, "width" | "height">): boolean {
  return Math.max(width, height) <= LONGEST_SIDE;
}

/** A few pixels of the palette, from dark to light, three bytes each. */
export function drawSwatch({ prompt, seed, index, width, height }: PictureJob): Uint8Array<ArrayBuffer> {
  const random = createRandom("swatch", prompt, seed, index);
  const palette = choosePalette(prompt, random);
  const offset = random.range(0.1, 0.5);
  const pixels = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) {
    const across = ((i % width) + Math.floor(i / width)) / (width + height);
    pixels.set(shade(palette, offset + across), i * 3);
  }
  return pixels;
}

/**
 * Renders a job in this thread if that takes less time than the way to another thread and back: a PNG of a few pixels.
 *
 * @returns undefined for any other job
 */
export function renderAtOnce(job: RenderJob): Rendered | undefined {
  if (job.kind !== "picture" || job.format !== "png" || !isSwatch(job)) return undefined;
  const { width, height } = job;
  return { bytes: encodePng(drawSwatch(job), width, height), contentType: "image/png", width, height };
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Writes a PNG of so few bytes that they are stored as they are. @param pixels three bytes each (https://www.w3.org/TR/png-3/) */
function encodePng(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each of red, green and blue; not interlaced.
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from(SIGNATURE),
    chunk("IHDR", header),
    chunk("IDAT", stored(scanlines(pixels, width, height))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Rows of pixels, each behind the number of its filter, 0 for none. */
function scanlines(pixels: Uint8Array, width: number, height: number): Buffer {
  const rowBytes = width * 3;
  const lines = Buffer.alloc((rowBytes + 1) * height);
  for (let row = 0; row < height; row++) {
    lines.set(pixels.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1);
  }
  return lines;
}

/** A zlib stream of one block that is not compressed (RFC 1950, RFC 1951). @param bytes fewer than 65,536 */
function stored(bytes: Buffer): Buffer {
  const head = Buffer.from([0x78, 0x01, 1, 0, 0, 0, 0]);
  head.writeUInt16LE(bytes.length, 3);
  head.writeUInt16LE(bytes.length ^ 0xffff, 5);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.adler32(bytes));
  return Buffer.concat([head, bytes, checksum]);
}

function chunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(Bun.hash.crc32(typed), 4);
  return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
}
