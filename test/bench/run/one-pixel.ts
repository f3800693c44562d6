import { deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const HEADER = chunk("IHDR", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]));
const END = chunk("IEND", Buffer.alloc(0));
const COLOURS = 2 ** 24;

/**
 * A PNG of one pixel without metadata, which the service would remove. Each number below 2 ** 24 gives another colour, in as many
 * bytes.
 */
export function onePixel(number: number): Uint8Array {
  const row = Buffer.alloc(4);
  row.writeUIntBE(number % COLOURS, 1, 3);
  // Stored as it is: compressed, some colours would be shorter.
  return Buffer.concat([SIGNATURE, HEADER, chunk("IDAT", deflateSync(row, { level: 0 })), END]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(Bun.hash.crc32(typed), typed.length + 4);
  return framed;
}
