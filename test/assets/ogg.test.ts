import { expect, test } from "bun:test";
import { eraseOggMetadata } from "../../src/assets/ogg.ts";
import { rejection } from "../contracts/provider.ts";
import { audio } from "../helpers/media-audio.ts";

/** By the definition, bit for bit. */
function checksumOf(page: Buffer): number {
  let crc = 0;
  const zeroed = Buffer.from(page);
  zeroed.writeUInt32LE(0, 22);
  for (const byte of zeroed)
    for (let bit = 7; bit >= 0; bit -= 1) {
      const isOdd = (crc < 0 ? 1 : 0) !== ((byte >> bit) & 1);
      crc = (crc << 1) ^ (isOdd ? 0x04c11db7 : 0);
    }
  return crc >>> 0;
}

interface Parts {
  readonly stream?: number;
  readonly isFirst?: boolean;
  /** One packet unless given. */
  readonly lengths?: readonly number[];
  readonly body: string | Buffer;
}

function page({ stream = 7, isFirst = false, body, lengths = [body.length] }: Parts): Buffer {
  const header = Buffer.alloc(27);
  header.write("OggS");
  header[5] = isFirst ? 2 : 0;
  header.writeUInt32LE(stream, 14);
  header[26] = lengths.length;
  const whole = Buffer.concat([header, Buffer.from(lengths), Buffer.from(body)]);
  whole.writeUInt32LE(checksumOf(whole), 22);
  return whole;
}

/** The pages of a file, after the check that each has its checksum. */
function pagesOf(file: Buffer): Buffer[] {
  const pages: Buffer[] = [];
  for (let at = 0; at < file.length; ) {
    const count = file[at + 26] ?? 0;
    const lengths = file.subarray(at + 27, at + 27 + count);
    const end = lengths.reduce((sum, length) => sum + length, at + 27 + count);
    pages.push(file.subarray(at, end));
    at = end;
  }
  expect(pages.map((each) => each.readUInt32LE(22))).toEqual(pages.map(checksumOf));
  return pages;
}

async function erased(...pages: readonly Buffer[]): Promise<Buffer> {
  const file = Buffer.concat(pages);
  await eraseOggMetadata({
    sizeBytes: file.length,
    read: async (at, length) => new Uint8Array(file.subarray(at, at + length)),
    write: async (at, bytes) => void file.set(bytes, at),
  });
  return file;
}

const EMPTY = page({ lengths: [], body: "" });
const bodyOf = (page: Buffer | undefined) => page?.subarray(27 + (page[26] ?? 0));
const opusHead = page({ isFirst: true, body: "OpusHead\x01\x01" });
const sound = page({ body: "sound" });

test("the comments of Opus become an empty name, and nothing else changes", async () => {
  const tags = page({ body: "OpusTags\x04\0\0\0mine and what I say...." });
  const [head, comments, rest] = pagesOf(await erased(opusHead, tags, sound));
  expect([head, rest]).toEqual([opusHead, sound]);
  const empty = `OpusTags${String.fromCharCode(19)}${"\0".repeat(3 + 19 + 4)}`;
  expect(bodyOf(comments)?.toString("latin1")).toBe(empty);
});

test("comments of Vorbis that go on over pages, beside other packets, are erased in each", async () => {
  const head = page({ isFirst: true, lengths: [30], body: "\x01vorbis".padEnd(30) });
  const pages = [
    page({ lengths: [255, 255], body: "\x03vorbis".padEnd(510, "A") }),
    page({ lengths: [40, 9], body: `${"A".repeat(40)}\x05vorbis..` }),
  ];
  const [first, second, third, last] = pagesOf(await erased(head, ...pages, sound));
  expect([first, last]).toEqual([head, sound]);
  const packet = Buffer.alloc(550);
  packet.write("\x03vorbis");
  packet.writeUInt32LE(550 - 7 - 4 - 5, 7);
  packet[549] = 1;
  expect(bodyOf(second)).toEqual(packet.subarray(0, 510));
  expect(bodyOf(third)).toEqual(Buffer.concat([packet.subarray(510), Buffer.from("\x05vorbis..")]));
});

test("a stream that is no sound is erased, and one that follows another is cleaned as well", async () => {
  const tags = page({ body: "OpusTags\0\0\0\0\0\0\0\0mine" });
  const other = (body: string) => page({ stream: 9, isFirst: body === "fishead", body });
  const file = await erased(
    ...[opusHead, other("fishead"), tags, other("Who: me"), sound],
    ...[opusHead, tags, sound],
  );
  const bodies = pagesOf(file).map((each) => bodyOf(each)?.toString("latin1"));
  const [opus, clean] = ["OpusHead\x01\x01", `OpusTags\x04${"\0".repeat(11)}`];
  expect(bodies).toEqual([opus, "\0".repeat(7), clean, "\0".repeat(7), "sound", opus, clean, "sound"]);
});

test("a file that a recorder wrote has the same checksums as here", async () => {
  const file = Buffer.from(await audio("audio/ogg", { tags: { title: "mine" } }));
  expect(pagesOf(file).length).toBeGreaterThan(2);
  pagesOf(await erased(file));
});

test.each([
  ["bytes between pages", [opusHead, Buffer.from("x".repeat(30)), sound], "the Ogg has something between"],
  ["comments too short to be any", [opusHead, sound], "the Ogg has no comments where they belong"],
  [
    "a cut page that is to change",
    [opusHead, page({ lengths: [30], body: "OpusTags" })],
    "the Ogg ends within",
  ],
  [
    "pages without end",
    [opusHead, ...Array.from({ length: 200_000 }, () => EMPTY)],
    "the Ogg has too many pages",
  ],
] as const)("%s: refused", async (_, pages, message) => {
  expect(await rejection(erased(...pages))).toMatchObject({
    reason: "damaged",
    message: expect.stringContaining(message),
  });
});
