import type { FileWindow } from "./file-window.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

const MAX_PAGES = 200_000;
/** Where a page has its checksum, and its header ends but for the lengths of its parts. */
const CHECKSUM_AT = 22;
const HEADER_BYTES = 27;

/** How a packet of comments begins and ends that has none. In between is the name of the program that wrote it. */
const COMMENTS = {
  OpusHead: { begin: "OpusTags", end: [0, 0, 0, 0] },
  "\x01vorbis": { begin: "\x03vorbis", end: [0, 0, 0, 0, 1] },
} as const;

interface Page {
  readonly at: number;
  readonly bodyAt: number;
  /** Beyond the end of a file that was cut short. */
  readonly end: number;
  /** Lengths of the parts of its packets. One below 255 ends its packet. */
  readonly lengths: Uint8Array;
  readonly stream: number;
  readonly isFirst: boolean;
}

interface Stream {
  /** Undefined for one that is no sound. */
  readonly codec: keyof typeof COMMENTS | undefined;
  /** Packets that have ended. The second one has the comments. */
  packets: number;
  readonly comments: { page: Page; from: number; to: number }[];
}

/**
 * Erases the comments of each stream of Opus or Vorbis, and all of any other stream, without moving a byte: what was the comments
 * becomes an empty name of the program that wrote them. Writes the checksums of the pages that it changes.
 * https://www.rfc-editor.org/rfc/rfc3533#section-6, https://www.rfc-editor.org/rfc/rfc7845#section-5.2 (checked 2026-11-23)
 *
 * @throws MediaError
 */
export async function eraseOggMetadata(file: FileWindow): Promise<void> {
  const streams = new Map<number, Stream>();
  const checksum = createChecksum();
  let pages = 0;
  for (let at = 0; at < file.sizeBytes; ) {
    if (++pages > MAX_PAGES) throw damaged("the Ogg has too many pages");
    const page = await readPage(file, at);
    if (page.isFirst) streams.set(page.stream, await beginStream(file, page));
    const stream = streams.get(page.stream);
    if (stream?.codec === undefined) {
      await rewrite(file, page, checksum, (bytes) => bytes.fill(0, page.bodyAt - at));
    } else if (stream.packets < 2 && findComments(stream, page)) {
      await eraseComments(file, stream.codec, stream.comments, checksum);
    }
    at = page.end;
  }
}

async function readPage(file: FileWindow, at: number): Promise<Page> {
  // Copies: a write in between ends the window that they are in.
  const header = (await file.read(at, HEADER_BYTES)).slice();
  if (header.length < HEADER_BYTES || ascii(header, 0, 4) !== "OggS")
    throw damaged("the Ogg has something between its pages");
  const lengths = (await file.read(at + HEADER_BYTES, header[26] ?? 0)).slice();
  const bodyAt = at + HEADER_BYTES + lengths.length;
  return {
    ...{ at, bodyAt, lengths },
    end: lengths.reduce((end, length) => end + length, bodyAt),
    stream: new DataView(header.buffer).getUint32(14, true),
    isFirst: ((header[5] ?? 0) & 2) !== 0,
  };
}

async function beginStream(file: FileWindow, { bodyAt }: Page): Promise<Stream> {
  const name = ascii(await file.read(bodyAt, 8), 0, 8);
  const codec = name === "OpusHead" ? name : name.startsWith("\x01vorbis") ? "\x01vorbis" : undefined;
  return { codec, packets: 0, comments: [] };
}

/** Notes which part of a page belongs to the comments. @returns whether they end there */
function findComments(stream: Stream, page: Page): boolean {
  let at = page.bodyAt;
  let from: number | undefined;
  for (const length of page.lengths) {
    if (stream.packets === 1) from ??= at;
    at += length;
    if (length < 255) stream.packets += 1;
    if (stream.packets === 2) break;
  }
  if (from !== undefined) stream.comments.push({ page, from, to: at });
  return stream.packets === 2;
}

async function eraseComments(
  file: FileWindow,
  codec: keyof typeof COMMENTS,
  parts: Stream["comments"],
  checksum: Checksum,
): Promise<void> {
  const { begin, end } = COMMENTS[codec];
  const packet = new Uint8Array(parts.reduce((sum, { from, to }) => sum + to - from, 0));
  const nameBytes = packet.length - begin.length - 4 - end.length;
  if (nameBytes < 0) throw damaged("the Ogg has no comments where they belong");
  packet.set(Buffer.from(begin, "latin1"));
  new DataView(packet.buffer).setUint32(begin.length, nameBytes, true);
  packet.set(end, packet.length - end.length);
  let done = 0;
  for (const { page, from, to } of parts) {
    const part = packet.subarray(done, done + to - from);
    await rewrite(file, page, checksum, (bytes) => bytes.set(part, from - page.at));
    done += part.length;
  }
}

async function rewrite(
  file: FileWindow,
  { at, end }: Page,
  checksum: Checksum,
  change: (bytes: Uint8Array) => void,
): Promise<void> {
  const bytes = (await file.read(at, end - at)).slice();
  if (bytes.length < end - at) throw damaged("the Ogg ends within a page");
  change(bytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(CHECKSUM_AT, 0);
  view.setUint32(CHECKSUM_AT, checksum(bytes), true);
  await file.write(at, bytes);
}

type Checksum = (bytes: Uint8Array) => number;

/** The CRC of a page in which the checksum is zero: polynomial 0x04c11db7, highest bit first, neither begun nor ended with ones. */
function createChecksum(): Checksum {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
    return crc;
  });
  return (bytes) => {
    let crc = 0;
    for (const byte of bytes) crc = (crc << 8) ^ (table[(crc >>> 24) ^ byte] ?? 0);
    return crc >>> 0;
  };
}
