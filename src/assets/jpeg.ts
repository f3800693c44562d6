import { exifOrientation } from "./exif.ts";
import type { ImageLayout } from "./layout.ts";
import { JPEG_MAX_SCANS, JPEG_MAX_SEGMENTS } from "./limits.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

const EOI = 0xd9;
const SOS = 0xda;
/** Where JUMBF boxes are, of which C2PA manifests are made. */
const APP11 = 0xeb;
/** DHT, DAC, DQT, DNL, DRI and the start-of-frame markers: what decoding needs. */
const DECODING = new Set([0xc4, 0xcc, 0xdb, 0xdc, 0xdd]);

/** @throws MediaError when the segments do not make up one whole image */
export function readJpeg(file: Uint8Array): ImageLayout {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const clean = [file.subarray(0, 2)];
  let size: { width: number; height: number; components: number } | undefined;
  let orientation: number | undefined;
  let isSigned = false;
  let scans = 0;
  let parts = 0;
  for (let at = 2; at + 2 <= file.length; ) {
    const marker = markerAt(file, at);
    if (++parts > JPEG_MAX_SEGMENTS) throw damaged("it has too many segments");
    if (marker === undefined) break;
    const { code, next } = marker;
    if (code === EOI) {
      if (size === undefined || scans === 0) break;
      clean.push(file.subarray(next - 2, next));
      const { width, height, components } = size;
      const isCmyk = components === 4;
      orientation ??= 1;
      return {
        width,
        height,
        orientation,
        isCmyk,
        isSigned,
        isWhole: scans > 1,
        hasAlpha: false,
        end: next,
        clean,
      };
    }
    if (!startsSegment(code) || next + 2 > file.length) throw damaged("the JPEG has stray markers");
    let end = next + view.getUint16(next);
    if (end < next + 2 || end > file.length) break;
    const content = file.subarray(next + 2, end);
    if (isFrame(code)) {
      if (size !== undefined || content.length < 6) throw damaged("the JPEG has more than one picture");
      const [h1 = 0, h0 = 0, w1 = 0, w0 = 0, components = 0] = content.subarray(1);
      size = { height: (h1 << 8) | h0, width: (w1 << 8) | w0, components };
    }
    if (code === 0xe1 && ascii(content, 0, 6) === "Exif\0\0")
      orientation ??= exifOrientation(content.subarray(6));
    if (code === APP11 && ascii(content, 0, 2) === "JP") isSigned = true;
    if (code === SOS) {
      scans += 1;
      if (scans > JPEG_MAX_SCANS) throw damaged("the JPEG has too many scans");
      end = entropyEnd(file, end);
    }
    clean.push(...keptParts(code, content, file.subarray(next - 2, end)));
    at = end;
  }
  throw damaged("the JPEG is cut short");
}

/** The marker at this position, any number of 0xff fill bytes before it. */
function markerAt(file: Uint8Array, from: number): { code: number; next: number } | undefined {
  if (file[from] !== 0xff) return undefined;
  let at = from + 1;
  while (file[at] === 0xff) at += 1;
  const code = file[at];
  return code === undefined ? undefined : { code, next: at + 1 };
}

/** Whether a length follows: not for TEM, restarts and a second start of image, which have no place here. */
function startsSegment(code: number): boolean {
  return code >= 0xc0 && (code < 0xd0 || code > 0xd8);
}

/** Start of frame: C0 to CF without DHT, JPG, DAC; DE and DF are hierarchical files, which nothing decodes. */
function isFrame(code: number): boolean {
  if (code === 0xde || code === 0xdf) throw damaged("hierarchical JPEG is not supported");
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
}

/** A search costs as much as a look at so many bytes, and in some files every second byte would be found. */
const LOOKED_AT = 32;

/** Where compressed pixels end: at the first marker that is neither an escaped 0xff nor a restart. */
function entropyEnd(file: Uint8Array, from: number): number {
  for (let found = file.indexOf(0xff, from); found !== -1; ) {
    let at = found;
    for (; at < found + LOOKED_AT && at < file.length; at += 1) {
      if (file[at] !== 0xff) continue;
      while (file[at + 1] === 0xff) at += 1;
      const following = file[at + 1];
      if (following === undefined) return file.length;
      const isData = following === 0x00 || (following >= 0xd0 && following <= 0xd7);
      if (!isData) return at;
    }
    found = file.indexOf(0xff, at);
  }
  return file.length;
}

/** Keeps what decoding needs, JFIF (without its thumbnail), the colour profile and Adobe's colour model. */
function keptParts(code: number, content: Uint8Array, segment: Uint8Array): Uint8Array[] {
  if (code === SOS || DECODING.has(code) || isFrame(code)) return [segment];
  if (code === 0xe0 && ascii(content, 0, 5) === "JFIF\0" && content.length >= 14)
    return jfif(content, segment);
  if (code === 0xe2 && ascii(content, 0, 12) === "ICC_PROFILE\0") return [segment];
  if (code === 0xee && ascii(content, 0, 5) === "Adobe" && content.length === 12) return [segment];
  return [];
}

function jfif(content: Uint8Array, segment: Uint8Array): Uint8Array[] {
  if (content.length === 14 && content[12] === 0 && content[13] === 0) return [segment];
  return [new Uint8Array([0xff, 0xe0, 0, 16, ...content.subarray(0, 12), 0, 0])];
}
