import { afterEach, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sniffMediaType as sniffFile } from "../../cli/flags/inputs.ts";
import type { AudioType } from "../../src/assets/audio-metadata.ts";
import { openAssetStore } from "../../src/assets/open.ts";
import { sniffMediaType } from "../../src/assets/sniff.ts";
import { MAX_INPUT_BYTES } from "../../src/domain/limits.ts";
import type { MediaKind } from "../../src/domain/media/asset.ts";
import type { MediaError } from "../../src/domain/ports/asset-store.ts";
import { type Bytes, CANARY, contains, png } from "../helpers/media.ts";
import { audio } from "../helpers/media-audio.ts";
import { makeFsStore } from "../helpers/media-store.ts";
import { mp4 } from "../helpers/media-video.ts";

const removes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const remove of removes.splice(0)) await remove();
});

async function put(file: Bytes, accept: readonly MediaKind[] = ["audio"], maxBytes = MAX_INPUT_BYTES.audio) {
  const { store, remove } = await makeFsStore();
  removes.push(remove);
  const stored = await store.put(file, { accept, maxBytes, sanitize: true });
  return { stored, bytes: (await (await store.open(stored))?.bytes()) ?? new Uint8Array(0) };
}

const refusal = (file: Bytes, ...more: [accept?: readonly MediaKind[], maxBytes?: number]) =>
  put(file, ...more).then(
    () => "taken",
    ({ reason, message }: MediaError) => `${reason}: ${message}`,
  );

const lengths: [AudioType, number][] = [
  ["audio/wav", 1_000],
  ["audio/mpeg", 360],
  ["audio/mp4", 1_000],
  ["audio/ogg", 200],
];

test.each(lengths)("%s is known by its content, and measured", async (type, durationMs) => {
  const file = await audio(type);
  const { stored } = await put(file);
  expect(stored).toMatchObject({ type, width: 0, height: 0, sizeBytes: file.length });
  expect(Math.abs((stored.durationMs ?? 0) - durationMs)).toBeLessThanOrEqual(30);
});

test.each(lengths.map(([type]) => type))(
  "what is written into %s besides its sound is erased in place",
  async (type) => {
    const file = await audio(type, { tags: { title: CANARY, comment: CANARY } });
    const { stored, bytes } = await put(file);
    expect([contains(file, CANARY), contains(bytes, CANARY)]).toEqual([true, false]);
    expect([bytes.length, stored.durationMs]).toEqual([
      file.length,
      (await put(await audio(type))).stored.durationMs!,
    ]);
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    expect(stored.sha256).toBe(hash);
  },
);

test("a WAV that was written to a pipe, and so tells no length, is taken and gets one", async () => {
  const file = await audio("audio/wav");
  const at = Buffer.from(file).indexOf("data") + 4;
  const streamed = file.slice();
  new DataView(streamed.buffer).setUint32(4, 0);
  new DataView(streamed.buffer).setUint32(at, 0);
  const { stored, bytes } = await put(streamed);
  expect(stored.durationMs).toBe(1_000);
  expect(new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true)).toBe(file.length - at - 4);
});

/** Silence of 72 ms a frame. */
function silentMp3(frames: number): Bytes {
  const file = new Uint8Array(72 * frames);
  for (let at = 0; at < file.length; at += 72) file.set([0xff, 0xe3, 0x18, 0xc4], at);
  return file;
}

test("a recording of 440,000 short frames is refused at the first beyond its longest time", async () => {
  expect(await refusal(silentMp3(440_000))).toBe("too_large: is longer than 10 minutes");
});

test("no image waits for a recording to be checked", async () => {
  const directory = join(tmpdir(), `svc-audio-${process.pid}`);
  removes.push(() => rm(directory, { recursive: true, force: true }));
  let names = 0;
  const newTemporaryName = () => `draft-${names++}`;
  const store = openAssetStore({ directory, newTemporaryName, decodeSlots: 1 });
  const options = { accept: ["image", "audio"], maxBytes: 1_000_000, sanitize: true } as const;
  let isChecked = false;
  const sound = store.put(silentMp3(8_000), options).then(() => {
    isChecked = true;
  });
  for (let side = 1; side <= 10; side += 1) await store.put(await png(side, side), options);
  expect(isChecked).toBe(false);
  await sound;
});

/** A tag as APE writes it: one item of text, and a header where wanted. */
function apeTag(hasHeader: boolean): Buffer {
  const item = Buffer.from(`\0\0\0\0\0\0\0\0Comment\0${CANARY}`);
  item.writeUInt32LE(CANARY.length, 0);
  const ends = (flags: number) => {
    const end = Buffer.alloc(32);
    end.write("APETAGEX");
    end.writeUInt32LE(2_000, 8);
    end.writeUInt32LE(item.length + 32, 12);
    end.writeUInt32LE(1, 16);
    end.writeUInt32LE((flags | (hasHeader ? 0x8000_0000 : 0)) >>> 0, 20);
    return end;
  };
  return Buffer.concat([...(hasHeader ? [ends(0x2000_0000)] : []), item, ends(0)]);
}

const id3v1 = Buffer.from(`TAG${CANARY}`.padEnd(128, "\0"));

test.each([
  ["ID3v1", [id3v1]],
  ["APE", [apeTag(false)]],
  ["APE with a header", [apeTag(true)]],
  ["APE before ID3v1", [apeTag(true), id3v1]],
])("tags after the sound of an MP3 are erased too, and no sound: %s", async (_, tags) => {
  const sound = await audio("audio/mpeg");
  const { stored, bytes } = await put(new Uint8Array(Buffer.concat([sound, ...tags])));
  const sizes = tags.reduce((sum, { length }) => sum + length, 0);
  expect(Buffer.compare(bytes, Buffer.concat([sound, Buffer.alloc(sizes)]))).toBe(0);
  expect(stored.durationMs).toBe((await put(sound)).stored.durationMs!);
});

test("an MP4 of sound alone is a recording wherever one is expected, whatever its brand", async () => {
  const file = await audio("audio/mp4");
  expect([sniffMediaType(file), (await put(file)).stored.type]).toEqual(["video/mp4", "audio/mp4"]);
  const branded = new Uint8Array(file);
  branded.set(new TextEncoder().encode("M4A "), 8);
  expect([sniffMediaType(branded), (await put(branded)).stored.type]).toEqual(["audio/mp4", "audio/mp4"]);
  expect(await refusal(branded, ["video"])).toBe(
    "wrong_kind: is a recording, where an MP4 or WebM video is expected",
  );
});

test("what an MP4 is taken for depends on what is asked for, not on what it was stored as before", async () => {
  const { store, remove } = await makeFsStore();
  removes.push(remove);
  const stream = async function* (file: Bytes) {
    yield file;
  };
  const ways = [(file: Bytes) => file, stream];
  for (const given of ways) {
    const putAs = async (kind: MediaKind, file: Bytes) =>
      store.put(given(file), { accept: [kind], maxBytes: MAX_INPUT_BYTES.audio, sanitize: true }).then(
        ({ type }) => type,
        ({ reason }: MediaError) => reason,
      );
    const [video, sound] = [await mp4(), await audio("audio/mp4")];
    // What is stored is clean, so that its hash is that of what is known.
    const { stored, bytes } = await put(video, ["video"]);
    expect(stored.type).toBe("video/mp4");
    expect([await putAs("video", bytes), await putAs("audio", bytes)]).toEqual(["video/mp4", "wrong_kind"]);
    const { bytes: clean } = await put(sound);
    expect([await putAs("audio", clean), await putAs("video", clean)]).toEqual(["audio/mp4", "wrong_kind"]);
  }
});

test("what is no recording is refused", async () => {
  const expected = "a WAV, MP3, M4A or Ogg recording is expected";
  expect(await refusal(await png())).toBe(`wrong_kind: is an image, where ${expected}`);
  expect(await refusal(await mp4())).toStartWith("wrong_kind: is a video, where ");
  expect(await refusal(new TextEncoder().encode("no sound at all"))).toStartWith("unrecognised: ");
  expect(await refusal(await audio("audio/wav"), ["image"])).toBe(
    "wrong_kind: is a recording, where a PNG, JPEG or WebP image is expected",
  );
});

test.each(lengths)("a beginning of %s that has no sound is refused", async (type) => {
  const file = await audio(type);
  for (const length of [4, 12, 24])
    expect(await refusal(file.slice(0, length))).toMatch(/^(damaged|unrecognised|wrong_kind: has no sound)/);
});

test("a recording of exactly the limits is taken, and one over them is not", async () => {
  const file = await audio("audio/wav");
  expect(await refusal(file, ["audio"], file.length)).toBe("taken");
  expect(await refusal(file, ["audio"], file.length - 1)).toStartWith("too_large: is larger than");
  expect(await refusal(await audio("audio/wav", { packets: 6_000 }))).toBe("taken");
  expect(await refusal(await audio("audio/wav", { packets: 6_001 }))).toBe(
    "too_large: is longer than 10 minutes",
  );
});

test("the client tells the same types by their content", async () => {
  for (const [type] of lengths) {
    const file = await audio(type);
    expect(sniffFile(file)).toBe(sniffMediaType(file));
  }
});
