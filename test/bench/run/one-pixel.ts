import { deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const HEADER = chunk("IHDR", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]));
const PIXEL = chunk("IDAT", deflateSync(Buffer.from([0, 0x33, 0x66, 0xcc])));
const END = chunk("IEND", Buffer.alloc(0));

/** A PNG of one pixel; each number gives other bytes of the same length. */
export function onePixel(number: number): Uint8Array {
  const text = Buffer.from(`Comment\0${String(number).padStart(12, "0")}`, "latin1");
  return Buffer.concat([SIGNATURE, HEADER, chunk("tEXt", text), PIXEL, END]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(Bun.hash.crc32(typed), typed.length + 4);
  return framed;
}
