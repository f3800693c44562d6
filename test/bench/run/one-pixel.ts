import { deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const HEADER = chunk("IHDR", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]));
const END = chunk("IEND", Buffer.alloc(0));
const COLOURS = 2 ** 24;

/** Of black. Stored as it is: compressed, some colours would be shorter. */
const BLACK = Buffer.concat([
  SIGNATURE,
  HEADER,
  chunk("IDAT", deflateSync(Buffer.alloc(4), { level: 0 })),
  END,
]);
/** Where the chunk of the pixel begins with its type, where its row of a filter and three samples is, and what checks each. */
const AT = { chunk: 37, row: 48, adler32: 52, crc32: 56 } as const;

/**
 * A PNG of one pixel without metadata, which the service would remove. Each number below 2 ** 24 gives another colour, in as many
 * bytes. It is made from another one, so that it costs next to nothing.
 */
export function onePixel(number: number): Uint8Array {
  const png = Buffer.from(BLACK);
  png.writeUIntBE(number % COLOURS, AT.row + 1, 3);
  png.writeUInt32BE(Bun.hash.adler32(png.subarray(AT.row, AT.adler32)), AT.adler32);
  png.writeUInt32BE(Bun.hash.crc32(png.subarray(AT.chunk, AT.crc32)), AT.crc32);
  return png;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(Bun.hash.crc32(typed), typed.length + 4);
  return framed;
}
