import { crc32, inflateSync } from "node:zlib";

/* Texts in PNG files (https://www.w3.org/TR/png-3/#11textinfo, checked 2026-11-27). */

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Signature and header, after which texts may come. */
const HEAD_BYTES = 33;
/** Whatever comes before the pixels is within so many bytes, or is left alone. */
const LOOKED_AT_BYTES = 64 * 1024;
/** The signature of whoever made a file (C2PA), which any change would void. */
const SIGNED = "caBX";
const TEXTS: ReadonlySet<string> = new Set(["tEXt", "zTXt", "iTXt"]);
/** More than any program writes. All texts of a file together may be so long: compressed, they take a thousandth of it. */
const MOST_TEXTS = 64;
const MOST_TEXT_BYTES = 256 * 1024;
/** Each costs a step. Encoders write a few thousand into the largest pictures. */
const MOST_CHUNKS = 10_000;

/**
 * What a PNG with one more text begins with, and the rest of the file; undefined for a file that is none, or that its maker has signed.
 */
export async function withText(
  file: Blob,
  keyword: string,
  text: string,
): Promise<{ readonly before: Uint8Array; readonly rest: Blob } | undefined> {
  const beginning = Buffer.from(await file.slice(0, LOOKED_AT_BYTES).arrayBuffer());
  let hasPixels = false;
  for (const { type } of chunksOf(beginning)) {
    if (type === SIGNED) return undefined;
    hasPixels ||= type === "IDAT";
  }
  if (!hasPixels) return undefined;
  return {
    before: Buffer.concat([beginning.subarray(0, HEAD_BYTES), textChunk(keyword, text)]),
    // A part of a file without an end has no size.
    rest: file.slice(HEAD_BYTES, file.size),
  };
}

/**
 * The texts of a PNG by their keywords; the first of each, none for any other file. Those after the first 64 are left out, and those
 * that are longer than what is left of 256 KiB for all.
 */
export function textsOf(png: Uint8Array): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let read = 0;
  let left = MOST_TEXT_BYTES;
  for (const { type, data } of chunksOf(Buffer.from(png.buffer, png.byteOffset, png.byteLength), true)) {
    if (!TEXTS.has(type)) continue;
    if (++read > MOST_TEXTS || left === 0) break;
    const end = data.indexOf(0);
    const text = end < 1 ? undefined : readText(type, data, { end, mostBytes: left });
    const keyword = data.subarray(0, end).toString("latin1");
    if (text === undefined || text.length > left || texts.has(keyword)) continue;
    texts.set(keyword, text);
    left -= text.length;
  }
  return texts;
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The chunks of a file, as far as it goes, 10,000 at most; up to the pixels unless `all`. */
function* chunksOf(file: Buffer, all = false): Generator<Chunk> {
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return;
  for (let at = SIGNATURE.length, count = 0; at + 8 <= file.length && count < MOST_CHUNKS; count += 1) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    yield { type, data: file.subarray(at + 8, at + 8 + length) };
    if (type === "IDAT" && !all) return;
    at += length + 12;
  }
}

/** @param end of its keyword */
function readText(
  type: string,
  data: Buffer,
  { end, mostBytes }: { readonly end: number; readonly mostBytes: number },
): string | undefined {
  const inflate = (text: Buffer) => inflateSync(text, { maxOutputLength: mostBytes });
  try {
    if (type === "tEXt") return data.toString("latin1", end + 1);
    if (type === "zTXt") return inflate(data.subarray(end + 2)).toString("latin1");
    if (type !== "iTXt") return undefined;
    const isCompressed = data[end + 1] === 1;
    const language = data.indexOf(0, end + 3);
    const translated = data.indexOf(0, language + 1);
    if (language === -1 || translated === -1) return undefined;
    const text = data.subarray(translated + 1);
    return (isCompressed ? inflate(text) : text).toString("utf8");
  } catch {
    // Compressed text that is damaged, or that is far more than anybody writes, says nothing.
    return undefined;
  }
}

/** In Latin-1 where that has all of it, else in UTF-8. */
function textChunk(keyword: string, text: string): Buffer {
  const isLatin = [...text].every((each) => (each.codePointAt(0) ?? 0) < 256);
  const type = isLatin ? "tEXt" : "iTXt";
  const data = isLatin
    ? Buffer.from(`${keyword}\0${text}`, "latin1")
    : Buffer.concat([Buffer.from(`${keyword}\0\0\0\0\0`, "latin1"), Buffer.from(text, "utf8")]);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
