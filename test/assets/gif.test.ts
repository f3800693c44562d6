import { expect, test } from "bun:test";
import sharp from "sharp";
import { readGif } from "../../src/assets/gif.ts";
import { checkImage } from "../../src/assets/image.ts";
import { type Bytes, CANARY, concat, contains, gif, insert, text } from "../helpers/media.ts";

const check = (file: Uint8Array, sanitize: boolean | "output" = true) =>
  checkImage(file, "image/gif", { sanitize, decodeBytes: 0 });
const reason = (file: Uint8Array) =>
  check(file).then(
    () => "taken",
    (error) => `${error.reason}: ${error.message}`,
  );

const EXTENSION = 0x21;
const IMAGE = 0x2c;

/** An extension of this label, its data in one block each. */
const extension = (label: number, ...blocks: Uint8Array[]): Bytes =>
  concat(
    new Uint8Array([EXTENSION, label]),
    ...blocks.map((block) => concat(new Uint8Array([block.length]), block)),
    new Uint8Array(1),
  );
const application = (name: string, ...blocks: Uint8Array[]) => extension(0xff, text(name), ...blocks);
const comment = extension(0xfe, text(CANARY));
const xmp = application("XMP DataXMP", text(`<x>${CANARY}</x>`));

/** Where the blocks of a file are: from, to, and what they are. */
function blocksOf(file: Uint8Array): { kind: number; from: number; data: number; to: number }[] {
  const tableBytes = (flags = 0) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  const blocks: { kind: number; from: number; data: number; to: number }[] = [];
  for (let at = 13 + tableBytes(file[10]); file[at] !== 0x3b; ) {
    const from = at;
    const kind = file[at] ?? 0;
    at += kind === IMAGE ? 11 + tableBytes(file[at + 9]) : 2;
    const data = at;
    while (file[at] !== 0) at += (file[at] ?? 0) + 1;
    at += 1;
    blocks.push({ kind, from, data, to: at });
  }
  return blocks;
}

/** The start of the first block. */
const firstBlock = (file: Uint8Array): number => blocksOf(file)[0]?.from ?? 0;
const lastImage = (file: Uint8Array) => {
  const found = blocksOf(file).findLast(({ kind }) => kind === IMAGE);
  if (found === undefined) throw new Error("There is no image.");
  return found;
};

test("an animation has its frames' time, a still picture none", async () => {
  expect((await check(await gif(20, 10, 4))).probe).toEqual({
    ...{ type: "image/gif", width: 20, height: 10, durationMs: 400, hasAlpha: true },
  });
  expect((await check(flat(20, 10))).probe).toEqual({
    ...{ type: "image/gif", width: 20, height: 10, hasAlpha: false },
  });
});

test("a frame of no time counts as players show it, a tenth of a second", async () => {
  const file = (await gif(8, 8, 3)).slice();
  for (const { kind, from } of blocksOf(file))
    if (kind === EXTENSION && file[from + 1] === 0xf9) file[from + 4] = 0;
  expect((await check(file)).probe.durationMs).toBe(300);
});

test("a colour that is not seen makes a picture see-through", async () => {
  const raw = { width: 2, height: 1, channels: 4 } as const;
  const clear = new Uint8Array(await sharp(new Uint8Array(8), { raw }).gif().toBuffer());
  expect((await check(clear)).probe.hasAlpha).toBe(true);
});

test("comments, XMP, texts and applications are taken out, and no frame is encoded again", async () => {
  const file = await gif(20, 10, 3);
  const at = firstBlock(file);
  const plainText = extension(0x01, new Uint8Array(12), text(CANARY));
  const added = [comment, xmp, application("ICCRGBG1012", text(CANARY)), plainText];
  const tagged = concat(
    insert(file.subarray(0, -1), at, ...added),
    comment,
    new Uint8Array([0x3b]),
    text(CANARY),
  );
  expect(Buffer.compare((await check(tagged)).bytes, file)).toBe(0);
  expect(contains((await check(tagged, false)).bytes, CANARY)).toBe(true);
  expect(Buffer.compare((await check(file)).bytes, file)).toBe(0);
  expect(Buffer.compare((await check(file, false)).bytes, file)).toBe(0);
});

test("how often an animation is repeated stays, and nothing that hides beside it", async () => {
  const still = await gif(8, 8);
  const at = firstBlock(still);
  for (const name of ["NETSCAPE2.0", "ANIMEXTS1.0"]) {
    const twice = application(name, new Uint8Array([1, 2, 0]));
    const hiding = application(name, new Uint8Array([1, 2, 0]), text(CANARY));
    const cleaned = (await check(insert(still, at, hiding))).bytes;
    expect(Buffer.compare(cleaned, insert(still, at, twice))).toBe(0);
    const other = application(name, text(CANARY));
    expect(Buffer.compare((await check(insert(still, at, other))).bytes, still)).toBe(0);
  }
});

test("a GIF that its maker signed stays as it is as an output", async () => {
  const still = await gif(8, 8);
  const signed = insert(
    still,
    firstBlock(still),
    application("C2PA_GIF\x01\0\0", text("jumb-c2pa")),
    comment,
  );
  expect(Buffer.compare((await check(signed, "output")).bytes, signed)).toBe(0);
  expect(Buffer.compare((await check(signed, true)).bytes, still)).toBe(0);
});

test("a GIF that is cut anywhere is damaged", async () => {
  const file = await gif(24, 16, 3);
  for (let length = 6; length < file.length; length += 1) {
    const said = await reason(file.subarray(0, length));
    if (!said.startsWith("damaged")) expect({ length, said }).toEqual({ length, said: "damaged" });
  }
});

test("a frame with less data than pixels is damaged, though decoders would fill it up", async () => {
  const file = await gif(64, 64, 2);
  const { data, to } = lastImage(file);
  const firstEnd = data + 1 + (file[data] ?? 0);
  const short = concat(file.subarray(0, firstEnd), file.subarray(to - 1));
  expect((await sharp(short, { pages: -1 }).raw().toBuffer()).length).toBeGreaterThan(0);
  expect(await reason(short)).toBe("damaged: is damaged: a frame is cut short");
});

test("codes that stand for nothing are damaged", async () => {
  const file = (await gif(64, 64)).slice();
  const { data } = lastImage(file);
  file.fill(0xff, data + 3, data + 40);
  expect(await reason(file)).toBe("damaged: is damaged: a frame cannot be decoded");
});

/** A picture of one colour: a code for each pixel, with a clear code between, so that codes keep their three bits. */
function flat(width: number, height: number, frames = 1): Bytes {
  const codes = Array.from({ length: width * height }, () => [4, 0]).flat();
  const bits = codes.flatMap((code) => [code & 1, (code >> 1) & 1, code >> 2]);
  const packed = new Uint8Array(Math.ceil(bits.length / 8));
  for (const [i, bit] of bits.entries()) packed[i >> 3] = (packed[i >> 3] ?? 0) | (bit << (i & 7));
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < packed.length; at += 255) {
    const block = packed.subarray(at, at + 255);
    blocks.push(new Uint8Array([block.length]), block);
  }
  const frame = concat(descriptor(0, 0, width, height), new Uint8Array([2]), ...blocks, new Uint8Array(1));
  return concat(screen(width, height), ...Array<Uint8Array>(frames).fill(frame), new Uint8Array([0x3b]));
}
const word = (value: number) => [value & 0xff, value >> 8];
const screen = (width: number, height: number) =>
  concat(text("GIF89a"), new Uint8Array([...word(width), ...word(height), 0x80, 0, 0, 9, 9, 9, 0, 0, 0]));
const descriptor = (...[left, top, width, height]: [number, number, number, number]) =>
  new Uint8Array([IMAGE, ...word(left), ...word(top), ...word(width), ...word(height), 0]);
const oneCode = new Uint8Array([2, 2, 0x44, 1, 0]);

const hostile: [string, Bytes, string][] = [
  ["a picture of nothing but its header", screen(1, 1), "damaged"],
  ["a picture without frames", concat(screen(1, 1), new Uint8Array([0x3b])), "damaged"],
  [
    "a screen of no pixels",
    concat(screen(0, 0), descriptor(0, 0, 0, 0), oneCode, new Uint8Array([0x3b])),
    "damaged",
  ],
  [
    "a frame larger than the screen",
    concat(screen(1, 1), descriptor(0, 0, 16_383, 16_383), oneCode, new Uint8Array([0x3b])),
    "damaged: is damaged: a frame is larger than the picture",
  ],
  [
    "a frame beside the screen",
    concat(screen(4, 4), descriptor(4, 0, 1, 1), oneCode, new Uint8Array([0x3b])),
    "damaged",
  ],
  [
    "a picture of 16,383² pixels",
    concat(screen(16_383, 16_383), descriptor(0, 0, 1, 1), oneCode, new Uint8Array([0x3b])),
    "too_many_pixels",
  ],
  [
    "a picture of 65,535 pixels a side",
    concat(screen(65_535, 1), descriptor(0, 0, 1, 1), oneCode, new Uint8Array([0x3b])),
    "too_many_pixels",
  ],
  ["2,001 frames", flat(1, 1, 2_001), "too_many_pixels"],
  [
    "21 frames of 25 million pixels, each one pixel large",
    concat(
      screen(5_000, 5_000),
      ...Array<Uint8Array>(21).fill(concat(descriptor(0, 0, 1, 1), oneCode)),
      new Uint8Array([0x3b]),
    ),
    "too_many_pixels",
  ],
  [
    "60,000 comments",
    concat(screen(1, 1), ...Array<Uint8Array>(60_000).fill(comment)),
    "damaged: is damaged: it has too many parts",
  ],
  ["a part of no known kind", concat(screen(1, 1), new Uint8Array([0x55, 0, 0x3b])), "damaged"],
  ["a page behind its name", concat(text("GIF89a"), text("<script>alert(1)</script>")), "damaged"],
  [
    "a colour of no bits",
    concat(screen(1, 1), descriptor(0, 0, 1, 1), new Uint8Array([0, 1, 0, 0, 0x3b])),
    "damaged: is damaged: a frame cannot be decoded",
  ],
];
test.each(hostile)("%s is refused", async (_, file, said) => {
  expect((await reason(file)).slice(0, said.length)).toBe(said);
});

test("as many frames as are allowed are taken", async () => {
  expect(await reason(flat(1, 1, 2_000))).toBe("taken");
  expect(readGif(flat(40, 30, 3)).frames).toHaveLength(3);
  expect(await reason(flat(40, 30, 3))).toBe("taken");
});
