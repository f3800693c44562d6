import { inflateSync } from "node:zlib";
import { ascii } from "./sniff.ts";

/** Unpacked pixels. More take longer here than the way to another thread and back, and hold up requests. */
const MOST_BYTES = 32 * 1024;
const HEADER_END = 33;

/** Samples of a pixel, by colour type: grey, colour, and each with alpha. Palettes are left to others. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

/**
 * Decodes every pixel of a small PNG, here and now. What it takes is whole beyond doubt: a header of known values, checksums that fit, and
 * as many rows of known filters as the header says (https://www.w3.org/TR/png-3/, checked 2026-11-23).
 *
 * @param file with chunks that end where their lengths say; nothing after IEND
 * @returns whether it is known to be whole; what is rare or wrong is for the decoder
 */
export function isWholeSmallPng(file: Uint8Array): boolean {
  const rowBytes = rowBytesOf(file);
  if (rowBytes === undefined) return false;
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const height = view.getUint32(20);
  const sizeBytes = height * rowBytes;
  if (sizeBytes === 0 || sizeBytes > MOST_BYTES || file.length > 2 * MOST_BYTES) return false;
  const packed: Uint8Array[] = [];
  const seen = new Set<string>();
  for (let at = 8; at < file.length; ) {
    const end = at + 12 > file.length ? file.length : at + 8 + view.getUint32(at);
    if (end + 4 > file.length) return false;
    const type = ascii(file, at + 4, at + 8);
    const content = file.subarray(at + 8, end);
    if (!isInPlace(type, content, seen) || (type === "IEND" && end + 4 !== file.length)) return false;
    if (Bun.hash.crc32(file.subarray(at + 4, end)) !== view.getUint32(end)) return false;
    if (type === "IDAT") packed.push(content);
    seen.add(type);
    at = end + 4;
  }
  if (!seen.has("IEND")) return false;
  const rows = unpack(Buffer.concat(packed), sizeBytes);
  if (rows?.length !== sizeBytes) return false;
  for (let at = 0; at < sizeBytes; at += rowBytes) if ((rows[at] ?? 5) > 4) return false;
  return true;
}

/** Whether a chunk is one of those of every encoder, as it must be, at a place where it may be. */
function isInPlace(type: string, content: Uint8Array, seen: ReadonlySet<string>): boolean {
  const { length } = content;
  switch (type) {
    case "IHDR":
      return seen.size === 0 && length === 13;
    case "sRGB":
      return !seen.has(type) && !seen.has("IDAT") && length === 1 && (content[0] ?? 4) <= 3;
    case "pHYs":
      return !seen.has(type) && !seen.has("IDAT") && length === 9 && (content[8] ?? 2) <= 1;
    case "IDAT":
      return true;
    case "IEND":
      return seen.has("IDAT") && length === 0;
    default:
      return false;
  }
}

/** Bytes of a row and its filter. @returns undefined for a header that is not one of these */
function rowBytesOf(file: Uint8Array): number | undefined {
  const [depth = 0, colours = 3, ...methods] = file.subarray(24, 29);
  const samples = SAMPLES[colours];
  if (file.length < HEADER_END || samples === undefined) return undefined;
  // Compression, filters and interlacing.
  if (depth !== 8 || methods.some((method) => method !== 0)) return undefined;
  const width = new DataView(file.buffer, file.byteOffset, file.byteLength).getUint32(16);
  return width === 0 ? undefined : width * samples + 1;
}

function unpack(packed: Uint8Array, sizeBytes: number): Uint8Array | undefined {
  try {
    const { buffer, engine } = inflateSync(packed, {
      maxOutputLength: sizeBytes,
      info: true,
    }) as unknown as Unpacked;
    // Nothing may follow the pixels.
    return engine.bytesWritten === packed.length ? buffer : undefined;
  } catch {
    // It is cut short, damaged, or has more than its header says: the decoder finds out what is wrong.
    return undefined;
  }
}

/** What zlib answers with `info`, which its types leave out. */
interface Unpacked {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}
