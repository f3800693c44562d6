import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { bombPng, concat, insert, pngChunk, text } from "../../helpers/media.ts";
import { dataUri, leftHalfMask, plainImage } from "../support/pictures.ts";
import { formRequest } from "./form.ts";
import { among, type Malformed } from "./request.ts";

/** A file that cannot be an image, and what its refusal says of it. */
export interface BadFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly says: string | RegExp;
}

const IHDR_END = 33;
const MOST_BYTES = 10 * 1024 * 1024;

/** Files of every kind that is not one whole still PNG, JPEG or WebP image within the limits. */
async function badFiles(): Promise<BadFile[]> {
  const png = await plainImage(64, 64);
  const jpeg = await plainImage(64, 64, { format: "jpeg" });
  const webp = await plainImage(64, 64, { format: "webp" });
  return [...foreign(png, jpeg), ...bombs(png), ...(await animations(png)), ...damages({ png, jpeg, webp })];
}

function foreign(png: Uint8Array, jpeg: Uint8Array): BadFile[] {
  const says = "PNG, JPEG or WebP";
  const files: [string, string | Uint8Array][] = [
    [
      "an SVG",
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    ],
    ["an SVG that reads a file", '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>'],
    ["HTML", "<!doctype html><script>alert(1)</script>"],
    ["plain text", "this is no image"],
    ["JSON", '{"image":"x"}'],
    ["a GIF", Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")],
    ["a BMP", `BM${"\0".repeat(60)}`],
    ["a TIFF", `II*\0${"\0".repeat(60)}`],
    ["an icon", `\0\0\x01\0\x01\0${"\0".repeat(60)}`],
    ["a PDF", "%PDF-1.7\n"],
    ["PostScript", "%!PS-Adobe-3.0 EPSF-3.0\n"],
    ["HEIC", `\0\0\0\x18ftypheic\0\0\0\0heicmif1${"\0".repeat(40)}`],
    ["AVIF", `\0\0\0\x18ftypavif\0\0\0\0avifmif1${"\0".repeat(40)}`],
    ["JPEG XL", "\0\0\0\x0cJXL \r\n\x87\n"],
    ["JPEG 2000", "\0\0\0\x0cjP  \r\n\x87\n"],
    ["a ZIP", "PK\x03\x04aaaaaaaaaaaaaaaaaa"],
    ["gzip", "\x1f\x8b\x08\0\0\0\0\0"],
    ["a program", "\x7fELF\x02\x01\x01"],
    ["a shell script", "#!/bin/sh\nid\n"],
    ["an ImageMagick script", "push graphic-context\nfill 'url(https://127.0.0.1/x)'\n"],
    ["zeroes", "\0".repeat(1000)],
    ["one byte", "\x89"],
    ["seven bytes of a PNG", "\x89PNG\r\n\x1a"],
    ["HTML in front of a PNG", concat(text("<script>alert(1)</script>"), png)],
    ["a ZIP in front of a JPEG", concat(text("PK\x03\x04"), jpeg)],
    ["a line break in front of a PNG", concat(text("\n"), png)],
  ];
  return files.map(([name, content]) => ({
    name,
    bytes: typeof content === "string" ? Buffer.from(content, "latin1") : content,
    says,
  }));
}

/** Small files that would be large in memory, and files that are just large. */
function bombs(png: Uint8Array): BadFile[] {
  const profile = concat(text("x\0\0"), deflateSync(Buffer.alloc(40_000_000)));
  const twice = pngChunk("iCCP", concat(text("x\0\0"), deflateSync(Buffer.alloc(1000))));
  return [
    {
      name: "a PNG with two colour profiles",
      bytes: insert(png, IHDR_END, twice, twice),
      says: "two colour",
    },
    { name: "a PNG of 16383 by 16383 in 32 KB", bytes: bombPng(16_383, 16_383), says: "million" },
    { name: "a PNG of 5001 by 5000", bytes: bombPng(5001, 5000), says: "million" },
    { name: "a PNG of 2147483647 by 1", bytes: bombPng(0x7fffffff, 1, 0), says: /pixels|damaged/ },
    {
      name: "a WebP of 16384 by 16384 that is all header",
      bytes: webpHeader(16_384, 16_384),
      says: "million",
    },
    {
      name: "a PNG with 40 MB of colour profile",
      bytes: insert(png, IHDR_END, pngChunk("iCCP", profile)),
      says: "damaged",
    },
    { name: "10 MB and a byte", bytes: Buffer.alloc(MOST_BYTES + 1, png), says: "10 MB" },
  ];
}

function webpHeader(width: number, height: number): Uint8Array {
  const bits = Buffer.alloc(5);
  bits[0] = 0x2f;
  bits.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  const riff = Buffer.alloc(26);
  riff.write("RIFF", 0, "latin1");
  riff.writeUInt32LE(18, 4);
  riff.write("WEBPVP8L", 8, "latin1");
  riff.writeUInt32LE(5, 16);
  bits.copy(riff, 20);
  return riff;
}

async function animations(png: Uint8Array): Promise<BadFile[]> {
  const control = Buffer.alloc(8);
  control.writeUInt32BE(2);
  const frames = Buffer.alloc(16 * 32 * 3, 0x55);
  frames.fill(0xaa, 16 * 16 * 3);
  const pages = { raw: { width: 16, height: 32, channels: 3 as const, pageHeight: 16 } };
  return [
    { name: "an animated PNG", bytes: insert(png, IHDR_END, pngChunk("acTL", control)), says: "animated" },
    { name: "an animated WebP", bytes: await sharp(frames, pages).webp().toBuffer(), says: "animated" },
    {
      name: "an animated GIF",
      bytes: await sharp(frames, pages).gif().toBuffer(),
      says: "PNG, JPEG or WebP",
    },
  ];
}

function damages({ png, jpeg, webp }: Record<"png" | "jpeg" | "webp", Uint8Array>): BadFile[] {
  const says = "damaged";
  const half = (file: Uint8Array) => file.subarray(0, file.length >> 1);
  const flipped = (file: Uint8Array, at: number) => {
    const copy = Buffer.from(file);
    copy[at] = (copy[at] ?? 0) ^ 0xff;
    return copy;
  };
  const sized = (width: number, height: number) => {
    const copy = Buffer.from(png);
    copy.writeUInt32BE(width, 16);
    copy.writeUInt32BE(height, 20);
    copy.writeUInt32BE(crc32(copy.subarray(12, 29)), 29);
    return copy;
  };
  return [
    { name: "half a PNG", bytes: half(png), says },
    { name: "half a JPEG", bytes: half(jpeg), says },
    { name: "half a WebP", bytes: half(webp), says },
    { name: "a PNG without its last byte", bytes: png.subarray(0, -1), says },
    { name: "a JPEG without its last byte", bytes: jpeg.subarray(0, -1), says },
    { name: "a WebP without its last byte", bytes: webp.subarray(0, -1), says },
    { name: "a PNG of a signature alone", bytes: png.subarray(0, 8), says },
    { name: "a JPEG of a signature alone", bytes: jpeg.subarray(0, 3), says },
    { name: "a WebP of a signature alone", bytes: webp.subarray(0, 12), says },
    { name: "a PNG of no width", bytes: sized(0, 64), says },
    { name: "a PNG that says it is twice as high", bytes: sized(64, 128), says },
    {
      name: "a PNG without pixels",
      bytes: concat(png.subarray(0, IHDR_END), pngChunk("IEND", new Uint8Array(0))),
      says,
    },
    { name: "a PNG with a wrong checksum", bytes: flipped(png, 30), says },
    { name: "a PNG chunk that is longer than the file", bytes: flipped(png, IHDR_END), says },
    { name: "a PNG behind another PNG's signature", bytes: concat(png.subarray(0, 8), png), says },
    {
      name: "a JPEG whose tables are noise",
      bytes: concat(jpeg.subarray(0, 20), Buffer.alloc(500, 0xff), jpeg.subarray(520)),
      says,
    },
  ];
}

/** Every bad file as a data URI, and as the file of an edit. */
export async function malformedFiles(): Promise<Malformed[]> {
  const bad = await badFiles();
  return [
    ...among({ path: "/v1/images/generations" }, [
      ...bad.map(
        ({ name, bytes, says }): Malformed => ({
          name: `image_url: ${name}`,
          body: { model: "sandbox-image", prompt: "x", image_url: dataUri(bytes) },
          param: "image_url",
          says,
        }),
      ),
      ...(await masks()),
    ]),
    ...among(
      { path: "/compat/v1/images/edits", envelope: "compatible" },
      bad.map(({ name, bytes, says }) => ({
        name: `image: ${name}`,
        ...formRequest([
          { name: "model", content: "sandbox-image" },
          { name: "prompt", content: "x" },
          { name: "image", filename: "a.png", content: bytes },
        ]),
        param: "image[0]",
        says,
      })),
    ),
  ];
}

async function masks(): Promise<Malformed[]> {
  const image = dataUri(await plainImage(16, 16));
  const mask = (name: string, bytes: Uint8Array, says: string): Malformed => ({
    name: `mask_url: ${name}`,
    body: { model: "sandbox-image", prompt: "x", image_url: image, mask_url: dataUri(bytes) },
    param: "mask_url",
    says,
  });
  return [
    mask("a JPEG", await plainImage(16, 16, { format: "jpeg" }), "PNG"),
    mask("a WebP", await plainImage(16, 16, { format: "webp" }), "PNG"),
    mask("no transparency", await plainImage(16, 16), "transparent"),
    mask("another size", await leftHalfMask(15, 16), "16x16"),
    mask("text", Buffer.from("hello"), "PNG"),
  ];
}
