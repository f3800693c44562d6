import { MediaError } from "../domain/ports/asset-store.ts";
import { exifOrientation } from "./exif.ts";
import type { ImageLayout } from "./layout.ts";
import { WEBP_MAX_CHUNKS } from "./limits.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

/** https://developers.google.com/speed/webp/docs/riff_container (checked 2026-11-21) */
const VISIBLE = new Set(["VP8X", "ICCP", "ALPH", "VP8 ", "VP8L"]);
const ANIMATION = 0x02;
const XMP = 0x04;
const EXIF = 0x08;
/** In the fifth byte of a lossless picture. */
const LOSSLESS_ALPHA = 0x10;

/** @throws MediaError when the chunks do not make up one whole still image */
export function readWebp(file: Uint8Array): ImageLayout {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const end = file.length < 12 ? Number.POSITIVE_INFINITY : 8 + view.getUint32(4, true);
  if (end > file.length) throw damaged("the WebP is cut short");
  const clean: Uint8Array[] = [];
  let size = { width: 0, height: 0 };
  let orientation = 1;
  let hasPixels = false;
  let isSigned = false;
  let parts = 0;
  let hasAlpha = false;
  for (let at = 12; at + 8 <= end; ) {
    const type = ascii(file, at, at + 4);
    if (++parts > WEBP_MAX_CHUNKS) throw damaged("it has too many chunks");
    const dataEnd = at + 8 + view.getUint32(at + 4, true);
    if (dataEnd > end) throw damaged("a part of the WebP is longer than the file");
    const content = file.subarray(at + 8, dataEnd);
    const next = Math.min(end, dataEnd + (dataEnd % 2 === at % 2 ? 0 : 1));
    if (type === "ANIM" || type === "ANMF" || (type === "VP8X" && ((content[0] ?? 0) & ANIMATION) !== 0)) {
      throw new MediaError("wrong_kind", "is animated, where a still image is expected");
    }
    const coded = codedSize(type, content);
    size = { width: Math.max(size.width, coded.width), height: Math.max(size.height, coded.height) };
    // The extended header's flag only announces what the picture has or has not.
    if (type === "ALPH" || (type === "VP8L" && ((content[4] ?? 0) & LOSSLESS_ALPHA) !== 0)) hasAlpha = true;
    if (type === "C2PA") isSigned = true;
    if (type === "EXIF") orientation = exifOrientation(withoutPrefix(content));
    if (type === "VP8 " || type === "VP8L") hasPixels = true;
    if (type === "VP8X") clean.push(withoutFlags(file.subarray(at, next)));
    else if (VISIBLE.has(type)) clean.push(file.subarray(at, next));
    at = next;
  }
  if (!hasPixels) throw damaged("the WebP has no picture");
  const is = { isCmyk: false, isSigned, isWhole: true };
  return { ...size, ...is, orientation, hasAlpha, end, clean: withHeader(file, clean) };
}

function codedSize(type: string, content: Uint8Array): { width: number; height: number } {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0, b7 = 0, b8 = 0, b9 = 0] = content;
  if (type === "VP8X") {
    return { width: 1 + (b4 | (b5 << 8) | (b6 << 16)), height: 1 + (b7 | (b8 << 8) | (b9 << 16)) };
  }
  if (type === "VP8L") {
    if (b0 !== 0x2f) throw damaged("the WebP has no valid picture");
    return {
      width: 1 + (b1 | ((b2 & 0x3f) << 8)),
      height: 1 + ((b2 >> 6) | (b3 << 2) | ((b4 & 0x0f) << 10)),
    };
  }
  if (type === "VP8 ") {
    if (b3 !== 0x9d || b4 !== 0x01 || b5 !== 0x2a) throw damaged("the WebP has no valid picture");
    return { width: (b6 | (b7 << 8)) & 0x3fff, height: (b8 | (b9 << 8)) & 0x3fff };
  }
  return { width: 0, height: 0 };
}

/** Some writers keep JPEG's `Exif\0\0` before the block. */
function withoutPrefix(exif: Uint8Array): Uint8Array {
  return ascii(exif, 0, 6) === "Exif\0\0" ? exif.subarray(6) : exif;
}

/** The extended header without its promise of EXIF and XMP parts; the header itself when it makes none. */
function withoutFlags(chunk: Uint8Array): Uint8Array {
  const flags = chunk[8] ?? 0;
  if ((flags & (XMP | EXIF)) === 0) return chunk;
  const copy = new Uint8Array(chunk);
  copy[8] = flags & ~(XMP | EXIF);
  return copy;
}

function withHeader(file: Uint8Array, chunks: readonly Uint8Array[]): Uint8Array[] {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 4);
  const header = new Uint8Array(file.subarray(0, 12));
  const view = new DataView(header.buffer);
  if (view.getUint32(4, true) === length) return [file.subarray(0, 12), ...chunks];
  view.setUint32(4, length, true);
  return [header, ...chunks];
}
