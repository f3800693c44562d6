import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWindow } from "../../src/assets/file-window.ts";
import { checkVideo, type VideoType } from "../../src/assets/video.ts";
import { eraseWebmMetadata, readWebm } from "../../src/assets/webm.ts";
import { type Bytes, CANARY, concat, contains, text } from "../helpers/media.ts";
import { mp4, webm } from "../helpers/media-video.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-video-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function check(file: Bytes, type: VideoType, sanitize = false) {
  const path = join(folder, "video");
  await Bun.write(path, file);
  const handle = await open(path, "r+");
  try {
    const found = await checkVideo(handle, file.length, type, sanitize);
    return { ...found, bytes: await Bun.file(path).bytes() };
  } finally {
    await handle.close();
  }
}

const reason = (file: Bytes, type: VideoType) =>
  check(file, type).then(
    () => "taken",
    (error) => error.reason,
  );

const tags = { title: CANARY, comment: CANARY };
const layouts: [string, VideoType, () => Promise<Bytes>][] = [
  ["an MP4 with its index first", "video/mp4", () => mp4({ tags })],
  ["an MP4 with its index last", "video/mp4", () => mp4({ tags, fastStart: false })],
  ["an MP4 in fragments", "video/mp4", () => mp4({ tags, fastStart: "fragmented" })],
  ["a WebM", "video/webm", () => webm({ tags })],
  ["a WebM with Opus", "video/webm", () => webm({ tags, sound: "opus" })],
  ["a WebM with Vorbis", "video/webm", () => webm({ tags, sound: "vorbis" })],
  ["a WebM without lengths, as browsers record it", "video/webm", () => webm({ tags, isLive: true })],
];
for (const [what, type, make] of layouts) {
  test(`${what} is measured, and cleaned in place when asked`, async () => {
    const file = await make();
    const probe = { type, width: 64, height: 48, durationMs: 1000 };
    expect(await check(file, type)).toEqual({ probe, isChanged: false, isClean: false, bytes: file });
    const cleaned = await check(file, type, true);
    expect({ probe: cleaned.probe, isChanged: cleaned.isChanged }).toEqual({ probe, isChanged: true });
    expect(contains(file, CANARY)).toBe(true);
    expect(contains(cleaned.bytes, CANARY)).toBe(false);
    expect(cleaned.bytes.length).toBe(file.length);
    expect((await check(cleaned.bytes, type)).probe).toEqual(probe);
  });

  test(`${what} is damaged when its end is missing`, async () => {
    const file = await make();
    for (const cut of [1, 7, 200, 1500]) {
      expect({ cut, reason: await reason(file.subarray(0, -cut), type) }).toEqual({ cut, reason: "damaged" });
    }
  });
}

/** An element of WebM. */
const element = (id: string, ...content: Uint8Array[]): Bytes => {
  const inside = concat(...content);
  const length = new Uint8Array([0x40 | (inside.length >> 8), inside.length & 0xff]);
  return concat(Uint8Array.fromHex(id), length, inside);
};

test("a WebM's title, file names, date, names of tracks and chapters are erased, and their checksums", async () => {
  const checksum = element("bf", new Uint8Array([1, 2, 3, 4]));
  const kept = element("2ad7b1", new Uint8Array([0x0f, 0x42, 0x40]));
  const secret = text(CANARY);
  const file = concat(
    element("1a45dfa3", element("4282", text("webm"))),
    element(
      "18538067",
      element(
        "1549a966",
        ...[checksum, kept, element("7ba9", secret), element("7ba9", text(""))],
        ...["7384", "3c83ab", "3e83bb", "4461"].map((id) => element(id, secret)),
      ),
      element(
        "1654ae6b",
        checksum,
        element("ae", element("d7", new Uint8Array([1])), element("536e", secret)),
      ),
      element("1043a770", secret),
      element("1941a469", secret),
    ),
  );
  const path = join(folder, "video");
  await Bun.write(path, file);
  await using handle = await open(path, "r+");
  const found = openWindow(handle, file.length);
  await eraseWebmMetadata(found, await readWebm(found));
  const bytes = await Bun.file(path).bytes();
  expect(contains(bytes, CANARY)).toBe(false);
  expect(Buffer.from(bytes).indexOf(checksum)).toBe(-1);
  expect(Buffer.from(bytes).indexOf(kept)).toBe(Buffer.from(file).indexOf(kept));
  expect(bytes.length).toBe(file.length);
  expect(await readWebm(openWindow(handle, file.length))).toEqual([]);
});

const FFMPEG = Bun.which("ffmpeg");
test.skipIf(FFMPEG === null).each([
  ["libvpx", "libopus"],
  ["libvpx-vp9", "libvorbis"],
])(
  "a WebM of %s and %s, as ffmpeg writes it, is cleaned and plays with its sound",
  async (pictures, sound) => {
    const path = join(folder, "made.webm");
    const source = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x48:r=8", "-f", "lavfi", "-i", "sine=d=1"];
    const named = ["-metadata", `title=${CANARY}`, "-metadata:s:a", `title=${CANARY}`];
    await Bun.$`${FFMPEG} -v error ${source} ${named} -c:v ${pictures} -c:a ${sound} ${path}`.quiet();
    const made = await Bun.file(path).bytes();
    const { probe, bytes } = await check(made, "video/webm", true);
    expect([contains(made, CANARY), contains(bytes, CANARY), bytes.length]).toEqual([
      true,
      false,
      made.length,
    ]);
    expect(probe).toMatchObject({ type: "video/webm", width: 64, height: 48 });
    const cleaned = join(folder, "cleaned.webm");
    await Bun.write(cleaned, bytes);
    const heard = (file: string) =>
      Bun.$`${FFMPEG} -v error -xerror -i ${file} -map 0:a -f md5 -`.quiet().text();
    expect(await heard(cleaned)).toBe(await heard(path));
  },
);

test("a camera's place, whoever wrote it and wherever, is erased from an MP4", async () => {
  const file = await mp4({ fastStart: false });
  const moov = Buffer.from(file).lastIndexOf("moov") - 4;
  const index = file.slice(moov);
  const place = concat(
    box("udta", box("\xa9xyz", text(CANARY))),
    box("meta", text(CANARY)),
    box("uuid", text(CANARY)),
  );
  new DataView(index.buffer).setUint32(0, index.length + place.length);
  const tagged = concat(file.subarray(0, moov), index, place, box("uuid", text(CANARY)));
  const { bytes, probe } = await check(tagged, "video/mp4", true);
  expect(contains(bytes, CANARY)).toBe(false);
  expect(probe.durationMs).toBe(1000);
});

test("a video longer, wider or taller than the limits is refused", async () => {
  expect(await reason(await mp4({ frames: 602, framesPerSecond: 1 }), "video/mp4")).toBe("too_large");
  expect(await reason(await mp4({ frames: 600, framesPerSecond: 1 }), "video/mp4")).toBe("taken");
  expect(await reason(await mp4({ width: 8208, height: 16, frames: 1 }), "video/mp4")).toBe(
    "too_many_pixels",
  );
});

test("an index that asks for thousands of millions of frames costs nothing", async () => {
  for (const type of ["stts", "stsz", "stss"]) {
    const file = (await mp4()).slice();
    const table = Buffer.from(file).indexOf(type, 0, "latin1");
    if (table === -1) continue;
    new DataView(file.buffer).setUint32(table + (type === "stsz" ? 12 : 8), 0xffff_fff0);
    expect({ type, reason: await reason(file, "video/mp4") }).toEqual({ type, reason: "damaged" });
  }
  // Of its first chunk, the number, and how many frames it has.
  for (const place of [12, 16]) {
    const file = (await mp4()).slice();
    const table = Buffer.from(file).indexOf("stsc", 0, "latin1");
    new DataView(file.buffer).setUint32(table + place, 0xffff_fff0);
    expect({ place, reason: await reason(file, "video/mp4") }).toEqual({ place, reason: "damaged" });
  }
  const fragmented = (await mp4({ fastStart: "fragmented" })).slice();
  const run = Buffer.from(fragmented).indexOf("trun", 0, "latin1");
  new DataView(fragmented.buffer).setUint32(run + 8, 0xffff_fff0);
  expect(await reason(fragmented, "video/mp4")).toBe("damaged");
});

test("parts of an index that stand outside of it are read into memory no further than an index is", async () => {
  const file = await mp4();
  const large = new Uint8Array(17 * 1024 * 1024);
  for (const type of ["trak", "stbl", "edts"])
    expect(await reason(concat(file, box(type, large)), "video/mp4")).toBe("damaged");
  expect(await reason(concat(file, box("trak", large.subarray(0, 1024))), "video/mp4")).toBe("taken");
  expect(await reason(concat(file, box("free", large)), "video/mp4")).toBe("taken");
});

test("a WebM whose index or one of whose clusters is larger than any encoder writes is refused", async () => {
  const live = Buffer.from(await webm({ isLive: true }));
  // Its segment has no length, which takes a byte.
  const content = live.indexOf("18538067", 0, "hex") + 5;
  const element = (id: string, size: number, isEndless = false) => {
    const header = Buffer.from(`${id}01ffffffffffffff`, "hex");
    if (!isEndless) header.writeBigUInt64BE((1n << 56n) | BigInt(size), id.length / 2);
    return concat(header, new Uint8Array(size));
  };
  const withIndex = (id: string, size: number) =>
    concat(live.subarray(0, content), element(id, size), live.subarray(content));
  for (const id of ["1c53bb6b", "114d9b74", "1549a966", "1254c367", "1941a469"])
    expect(await reason(withIndex(id, 9 * 1024 * 1024), "video/webm")).toBe("damaged");
  expect(await reason(withIndex("1c53bb6b", 1024), "video/webm")).toBe("taken");
  expect(await reason(withIndex("ec", 9 * 1024 * 1024), "video/webm")).toBe("taken");
  const half = element("a3", 40 * 1024 * 1024);
  const cluster = element("1f43b675", 0, true);
  expect(await reason(concat(live, cluster, half, half), "video/webm")).toBe("damaged");
  const known = concat(live, element("1f43b675", 65 * 1024 * 1024));
  expect(await reason(known, "video/webm")).toBe("damaged");
});

test("a container without a video in it is refused", async () => {
  const ftyp = box("ftyp", text("isom\0\0\0\0isom"));
  expect(await reason(ftyp, "video/mp4")).toBe("damaged");
  expect(await reason(concat(ftyp, box("moov", new Uint8Array(0))), "video/mp4")).toBe("wrong_kind");
  expect(await reason(concat(ftyp, text("<html>not a box</html>")), "video/mp4")).toBe("damaged");
  expect(await reason((await webm()).subarray(0, 60), "video/webm")).toBe("damaged");
});

function box(type: string, content: Uint8Array): Bytes {
  const header = new Uint8Array(8);
  new DataView(header.buffer).setUint32(0, content.length + 8);
  header.set(Buffer.from(type, "latin1"), 4);
  return concat(header, content);
}
