import type { MediaType } from "../domain/media/asset.ts";
import { readBeginning } from "./svg-root.ts";

/** Major brands of MP4 files. QuickTime (`qt  `), 3GPP, AVIF and HEIC share the container and are not stored. */
const MP4_BRANDS = /^(isom|iso[2-9]|mp4[12]|avc1|av01|M4V[ HP]|dash|MSNV|cmf[2cs]|iso6)$/;

/** The media type that the first SNIFF_BYTES of a file show; undefined for everything but the stored types. */
export function sniffMediaType(head: Uint8Array): MediaType | undefined {
  if (ascii(head, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (ascii(head, 0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (ascii(head, 0, 4) === "RIFF" && ascii(head, 8, 12) === "WEBP") return "image/webp";
  if (/^GIF8[79]a$/.test(ascii(head, 0, 6))) return "image/gif";
  if (ascii(head, 0, 4) === "RIFF" && ascii(head, 8, 12) === "WAVE") return "audio/wav";
  if (ascii(head, 4, 8) === "ftyp" && /^M4[AB] $/.test(ascii(head, 8, 12))) return "audio/mp4";
  if (ascii(head, 0, 4) === "OggS") return "audio/ogg";
  if (ascii(head, 0, 3) === "ID3" || isMp3Frame(head)) return "audio/mpeg";
  if (ascii(head, 4, 8) === "ftyp" && MP4_BRANDS.test(ascii(head, 8, 12))) return "video/mp4";
  if (ascii(head, 0, 4) === "\x1a\x45\xdf\xa3" && documentType(head) === "webm") return "video/webm";
  return isDrawing(head) ? "image/svg+xml" : undefined;
}

/** Whether XML begins here whose root is or, as far as can be seen, may be a drawing. */
function isDrawing(head: Uint8Array): boolean {
  const beginning = readBeginning(head);
  return typeof beginning === "string" ? beginning !== "no XML" : beginning.root === "svg";
}

/** The beginning of a frame of MPEG audio, layer 3. */
function isMp3Frame([first, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe6) === 0xe2;
}

/** The DocType element (0x4282, a one-byte length, text) of an EBML header: tells WebM from other Matroska. */
function documentType(head: Uint8Array): string | undefined {
  for (let at = 4; at + 3 <= head.length; at += 1) {
    if (head[at] === 0x42 && head[at + 1] === 0x82) {
      const length = (head[at + 2] ?? 0) & 0x7f;
      return ascii(head, at + 3, at + 3 + length);
    }
  }
  return undefined;
}

/** Bytes as latin-1 text, for comparing signatures. */
export function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
