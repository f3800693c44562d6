import { crc32, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";

export type Bytes = Uint8Array<ArrayBuffer>;

/** A text no media file has by chance: where it still is, metadata was kept. */
export const CANARY = "CANARY-48.8583N-2.2945E";

/** A picture whose pixels all differ, so that any change of them shows. */
export function picture(width: number, height: number, channels: 3 | 4 = 3): Sharp {
  const pixels = new Uint8Array(width * height * channels);
  for (let i = 0; i < pixels.length; i += 1) pixels[i] = (i * 37 + (i >> 5) * 11) & 0xff;
  return sharp(pixels, { raw: { width, height, channels } });
}

export async function png(width = 1, height = 1): Promise<Bytes> {
  return plain(await picture(width, height).png().toBuffer());
}

export async function jpeg(width = 16, height = 16): Promise<Bytes> {
  return plain(await picture(width, height).jpeg().toBuffer());
}

export async function webp(width = 16, height = 16): Promise<Bytes> {
  return plain(await picture(width, height).webp().toBuffer());
}

/** As many pictures as are asked for, each other than the one before, for a tenth of a second. */
export async function gif(width = 16, height = 12, frames = 1): Promise<Bytes> {
  const { data } = await picture(width, height * frames)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = {
    width,
    height: height * frames,
    channels: 3,
    ...(frames > 1 && { pageHeight: height }),
  } as const;
  const delay = Array<number>(frames).fill(100);
  return plain(await sharp(data, { raw }).gif({ delay, loop: 0 }).toBuffer());
}

/** The canary as a camera would write it: place, description, comment and XMP. */
export function withMetadata(image: Sharp, orientation = 1): Sharp {
  return image
    .withExif({
      IFD0: { ImageDescription: CANARY, Copyright: CANARY },
      IFD3: { GPSLatitudeRef: "N", GPSLatitude: "48/1 51/1 30/1", GPSAreaInformation: CANARY },
    })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><place>${CANARY}</place></x:xmpmeta>`)
    .withMetadata({ orientation });
}

/** One PNG chunk with a right checksum. */
export function pngChunk(type: string, content: Uint8Array): Bytes {
  const bytes = new Uint8Array(content.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(content, 8);
  view.setUint32(8 + content.length, crc32(bytes.subarray(4, 8 + content.length)));
  return bytes;
}

/** A valid black one-bit PNG of any size: small in bytes, as large as it says once decoded. */
export function bombPng(width: number, height: number, rows = height): Bytes {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 1;
  const pixels = deflateSync(new Uint8Array((Math.ceil(width / 8) + 1) * rows));
  return concat(
    new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk("IHDR", header),
    pngChunk("IDAT", pixels),
    pngChunk("IEND", new Uint8Array(0)),
  );
}

/** `file` with something put in at an offset. */
export function insert(file: Uint8Array, at: number, ...parts: Uint8Array[]): Bytes {
  return concat(file.subarray(0, at), ...parts, file.subarray(at));
}

export function concat(...parts: Uint8Array[]): Bytes {
  return plain(Buffer.concat(parts));
}

export function text(value: string): Bytes {
  return new TextEncoder().encode(value);
}

export function contains(file: Uint8Array, needle: string): boolean {
  return Buffer.from(file).indexOf(needle, 0, "latin1") !== -1;
}

/** Every pixel, colours unconverted, alpha included. */
export async function pixels(file: Uint8Array): Promise<Buffer> {
  return sharp(file, { ignoreIcc: true }).ensureAlpha().raw().toBuffer();
}

/** A file in pieces, as it comes over a network. */
export async function* inPieces(file: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += size) {
    await Promise.resolve();
    yield file.subarray(at, at + size);
  }
}

function plain(buffer: Buffer): Bytes {
  return new Uint8Array(buffer);
}
