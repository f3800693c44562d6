import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { openStoredContents } from "../../src/assets/contents.ts";
import { storeThumbnail } from "../../src/assets/thumbnail-files.ts";
import { openThumbnails, type ThumbnailOptions } from "../../src/assets/thumbnails/thumbnails.ts";
import type { StoredFile } from "../../src/domain/media/asset.ts";
import type { PutOptions } from "../../src/domain/ports/asset-store.ts";
import type { Thumbnail } from "../../src/domain/ports/thumbnails.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { encodeVideo } from "../../src/studio/encode.ts";
import { createFrame } from "../../src/studio/sprite.ts";
import { bombPng, gif, picture, png, withMetadata } from "../helpers/media.ts";
import { contentFiles, makeFsStore } from "../helpers/media-store.ts";
import { mp4, webm } from "../helpers/media-video.ts";
import { accountId } from "../helpers/store.ts";

/** What a provider made, kept as it is. */
const MADE: PutOptions = {
  accept: ["image", "video"],
  maxBytes: 50_000_000,
  sanitize: false,
  isOutput: true,
};

let subject: Awaited<ReturnType<typeof makeFsStore>>;
let thumbnails: ReturnType<typeof openThumbnails>;

const open = (more: Partial<ThumbnailOptions> = {}) =>
  openThumbnails({
    directory: subject.directory,
    assets: subject.store,
    clock: createSystemClock(),
    ...more,
  });

beforeEach(async () => {
  subject = await makeFsStore();
  thumbnails = open();
});
afterEach(async () => {
  await thumbnails.stop();
  await subject.remove();
});

const put = (bytes: Uint8Array, options: Partial<PutOptions> = {}) =>
  subject.store.put(bytes, { ...MADE, ...options });

async function pictureOf(thumbnail: Thumbnail): Promise<Uint8Array> {
  if (thumbnail.kind !== "picture") throw new Error(`Got ${JSON.stringify(thumbnail)}.`);
  expect(thumbnail.content.type).toBe("image/webp");
  return thumbnail.content.bytes();
}

/** Format, size and metadata of the thumbnail of this width. */
async function sizeOf(file: StoredFile, width: 64 | 160 | 320 | 640 | 1280) {
  const about = await sharp(await pictureOf(await thumbnails.read(file, width))).metadata();
  const { format, width: w, height: h, exif, icc, xmp, space } = about;
  return { format, size: [w, h], space, metadata: [exif, icc, xmp].filter((each) => each !== undefined) };
}

/** The same of a thumbnail as it should be. */
const seen = (width: number, height: number): Awaited<ReturnType<typeof sizeOf>> => ({
  format: "webp",
  size: [width, height],
  space: "srgb",
  metadata: [],
});

/** The colour of a pixel, 0 to 255 each. */
async function colourAt(bytes: Uint8Array, left: number, top: number): Promise<number[]> {
  const image = sharp(bytes).removeAlpha().extract({ left, top, width: 1, height: 1 });
  return [...(await image.raw().toBuffer())];
}

/** Four areas of one colour each. */
function quarters(width: number, height: number): Promise<Buffer> {
  const half = { width: width / 2, height: height / 2, channels: 3 as const };
  const area = (background: string) =>
    sharp({ create: { ...half, background } })
      .png()
      .toBuffer();
  const areas = ["#f00", "#0f0", "#00f", "#ff0"].map(async (colour, i) => ({
    input: await area(colour),
    left: (i % 2) * half.width,
    top: i < 2 ? 0 : half.height,
  }));
  const whole = sharp({ create: { width, height, channels: 3, background: "#000" } });
  return Promise.all(areas).then((all) => whole.composite(all).png().toBuffer());
}

const near = (got: readonly number[], wanted: readonly number[]) =>
  got.every((value, i) => Math.abs(value - (wanted[i] ?? 0)) < 40);

test("an image gets a smaller one of the width asked for, and never a larger one", async () => {
  const file = await put(await png(400, 300));
  expect(await sizeOf(file, 160)).toEqual(seen(160, 120));
  expect(await sizeOf(file, 1280)).toEqual(seen(400, 300));
  const high = await put(await png(100, 900));
  expect(await sizeOf(high, 64)).toEqual(seen(14, 128));
});

test("an image is upright, in sRGB and without metadata", async () => {
  const turned = await withMetadata(sharp(await quarters(320, 160)), 6)
    .withIccProfile("p3")
    .jpeg({ quality: 95 })
    .toBuffer();
  const file = await put(turned);
  expect(await sizeOf(file, 64)).toEqual(seen(64, 128));
  const small = await pictureOf(await thumbnails.read(file, 64));
  // Turned to the right, red is at the upper right, and blue, which was at the lower left, at the upper left.
  expect(near(await colourAt(small, 60, 4), [255, 0, 0])).toBe(true);
  expect(near(await colourAt(small, 4, 4), [0, 0, 255])).toBe(true);
});

test("numbers of another colour space become those of sRGB", async () => {
  const colour = [60, 180, 60];
  const p3 = await sharp({ create: { width: 80, height: 80, channels: 3, background: "rgb(60,180,60)" } })
    .withIccProfile("p3")
    .png()
    .toBuffer();
  const numbers = await sharp(p3, { ignoreIcc: true }).removeAlpha().raw().toBuffer();
  const small = await pictureOf(await thumbnails.read(await put(p3), 64));
  const off = (got: readonly number[]) =>
    Math.max(...got.map((value, i) => Math.abs(value - (colour[i] ?? 0))));
  expect(off([...numbers.subarray(0, 3)])).toBeGreaterThan(15);
  expect(off(await colourAt(small, 30, 30))).toBeLessThan(6);
});

test("an animation gives its first frame, and transparency stays", async () => {
  const file = await put(await gif(200, 100, 3));
  expect(await sizeOf(file, 64)).toEqual(seen(64, 32));
  const clear = await picture(128, 128, 4).ensureAlpha(0.5).png().toBuffer();
  const small = await pictureOf(await thumbnails.read(await put(clear), 64));
  expect((await sharp(small).metadata()).hasAlpha).toBe(true);
});

test("a video gives its first picture, where its codec is decoded here", async () => {
  const frame = createFrame(320, 180);
  const red = await encodeVideo({ frame, frameCount: 3 }, () => {
    frame.y.fill(63);
    frame.u.fill(102);
    frame.v.fill(240);
  });
  const film = await put(red);
  expect(await sizeOf(film, 160)).toEqual(seen(160, 90));
  const small = await pictureOf(await thumbnails.read(film, 160));
  expect(near(await colourAt(small, 80, 45), [255, 0, 0])).toBe(true);
  expect(await sizeOf(await put(await webm({ width: 128, height: 96 })), 64)).toEqual(seen(64, 48));
  expect(await sizeOf(await put(await mp4({ width: 128, height: 96 })), 64)).toEqual(seen(64, 48));
  // The profile is the byte after the first of its configuration.
  const high = Buffer.from(red);
  high[high.indexOf("avcC") + 5] = 0x64;
  expect(await thumbnails.read(await put(high), 160)).toEqual({ kind: "none", why: "codec" });
});

test("a video's spritesheet has its pictures at equal distances, in their order", async () => {
  const frame = createFrame(640, 360);
  let shown = 0;
  const film = await encodeVideo({ frame, frameCount: 64 }, () => {
    frame.y.fill(20 + 3 * shown++);
    frame.u.fill(128);
    frame.v.fill(128);
  });
  const file = await put(film);
  const sheet = await pictureOf(await thumbnails.read(file, "spritesheet"));
  expect(await sharp(sheet).metadata()).toMatchObject({ format: "webp", width: 4 * 320, height: 4 * 180 });
  const greys: number[] = [];
  for (let i = 0; i < 16; i++) {
    const [grey = 0] = await colourAt(sheet, (i % 4) * 320 + 160, Math.floor(i / 4) * 180 + 90);
    greys.push(grey);
  }
  // Each fourth picture, from the third: a step of four times three in luma, give or take what the encoder rounds.
  const steps = greys.slice(1).map((grey, i) => grey - (greys[i] ?? 0));
  expect(steps.filter((step) => step < 5 || step > 25)).toEqual([]);
  expect(Math.abs((greys[0] ?? 0) - 1.164 * (20 + 6 - 16))).toBeLessThan(10);
  expect(Math.abs((greys[15] ?? 0) - 1.164 * (20 + 186 - 16))).toBeLessThan(10);
  expect((await readdir(folderOf(file))).sort()).toEqual(["spritesheet.webp"]);
});

test("a video of few pictures, or of VP8, has the sheet that it can, and an image has none", async () => {
  const frame = createFrame(128, 256);
  const short = await put(await encodeVideo({ frame, frameCount: 3 }, () => void frame.y.fill(90)));
  const sizeOfSheet = async (file: StoredFile) => {
    const { width, height } = await sharp(
      await pictureOf(await thumbnails.read(file, "spritesheet")),
    ).metadata();
    return [width, height];
  };
  expect(await sizeOfSheet(short)).toEqual([3 * 128, 256]);
  const [width = 0, height = 0] = await sizeOfSheet(await put(await webm({ width: 128, height: 96 })));
  expect([width % 128, height % 96, width > 0]).toEqual([0, 0, true]);
  const image = await put(await png(64, 64));
  expect(await thumbnails.read(image, "spritesheet")).toEqual({ kind: "none", why: "codec" });
  // That an image has no spritesheet says nothing of its thumbnail.
  expect((await thumbnails.read(image, 64)).kind).toBe("picture");
});

test("what cannot be decoded has none, and is tried once", async () => {
  const file = await put(await png(300, 200));
  const [path = ""] = await contentFiles(subject.directory);
  let asked = 0;
  const assets = {
    locate: async () => {
      asked += 1;
      return path;
    },
  };
  const other = open({ assets });
  for (const damaged of [bombPng(12_000, 12_000, 2), (await readFile(path)).subarray(0, 200)]) {
    const made = { ...file, sha256: String(asked).repeat(64) };
    await writeFile(path, damaged);
    for (const width of [64, 64, 160] as const)
      expect(await other.read(made, width)).toEqual({ kind: "none", why: "damaged" });
  }
  expect(asked).toBe(2);
  const sound: StoredFile = { ...file, type: "audio/mpeg" };
  expect(await other.read(sound, 64)).toEqual({ kind: "none", why: "sound" });
  await other.stop();
});

test("one is made once, and found again by the next process", async () => {
  const file = await put(await png(300, 200));
  let asked = 0;
  const assets = {
    locate: (name: StoredFile) => {
      asked += 1;
      return subject.store.locate(name);
    },
  };
  const other = open({ assets: assets as never });
  const all = await Promise.all([64, 64, 64].map(() => other.read(file, 64)));
  const [first] = await Promise.all(all.map(pictureOf));
  await other.stop();
  expect(asked).toBe(1);
  const next = open({ assets: { locate: () => Promise.reject(new Error("made again")) } });
  expect(await pictureOf(await next.read(file, 64))).toEqual(first ?? new Uint8Array());
  // What a power failure damaged is made anew.
  const path = join(folderOf(file), "64.webp");
  await truncate(path, 40);
  expect(await next.read(file, 64).catch(({ message }) => message)).toBe("made again");
});

const folderOf = ({ sha256 }: StoredFile) =>
  join(subject.directory, "thumbnails", sha256.slice(0, 2), sha256);

test("they go with their file, whoever removes it", async () => {
  const file = await put(await png(300, 200));
  await thumbnails.read(file, 64);
  await thumbnails.read(file, 160);
  expect((await readdir(folderOf(file))).sort()).toEqual(["160.webp", "64.webp"]);
  expect(await subject.store.removeUnheld(file.sha256)).toBe(true);
  expect(existsSync(folderOf(file))).toBe(false);
  expect(await thumbnails.read(file, 64)).toEqual({ kind: "gone" });

  const again = await put(await png(310, 200));
  await thumbnails.read(again, 64);
  const [path = ""] = await contentFiles(subject.directory);
  await utimes(path, 1, 1);
  const judge = { unusedSince: 2_000, isNeeded: async () => false };
  expect(await openStoredContents(subject.directory).remove(again.sha256, judge)).toBe(true);
  expect(existsSync(folderOf(again))).toBe(false);
});

test("a file that went while its thumbnail was made leaves none behind", async () => {
  const file = await put(await png(300, 200));
  const name = { root: subject.directory, sha256: file.sha256, size: 64 as const };
  const [path = ""] = await contentFiles(subject.directory);
  expect(await storeThumbnail(name, new Uint8Array([1]), path)).toBe(true);
  await rm(path);
  expect(await storeThumbnail(name, new Uint8Array([1]), path)).toBe(false);
  expect(existsSync(folderOf(file))).toBe(false);
});

test("a folder that cannot be written still gives pictures", async () => {
  const file = await put(await png(300, 200));
  await writeFile(join(subject.directory, "thumbnails"), "in the way");
  expect(await sizeOf(file, 64)).toEqual(seen(64, 43));
});

test("a thread that breaks, or takes too long, is replaced, and its picture is not tried again", async () => {
  const file = await put(await png(300, 200));
  const entry = new URL("./workers/thumbnails.ts", import.meta.url).href;
  const named = (what: string) => ({ ...file, sha256: what.padEnd(64, "0") });
  const assets = { locate: async ({ sha256 }: StoredFile) => sha256 };
  // Its patience ends soon for the one that hangs, and never for others, however slow the machine is.
  let isShort = false;
  const real = createSystemClock();
  const after = (_ms: number, run: () => void) => (isShort ? real.after(300, run) : () => {});
  const broken = open({ entry, clock: { ...real, after }, assets: assets as never });
  const damaged: Thumbnail = { kind: "none", why: "damaged" };
  for (const what of ["throw", "exit", "hang"]) {
    isShort = what === "hang";
    expect(await broken.read(named(what), 64)).toEqual(damaged);
    isShort = false;
    expect(await broken.read(named(what), 64)).toEqual(damaged);
    expect((await broken.read(named("fine"), 64)).kind).toBe("picture");
  }
  await broken.stop();
});

test("no thumbnail waits for a spritesheet", async () => {
  const file = await put(await png(300, 200));
  const entry = new URL("./workers/thumbnails.ts", import.meta.url).href;
  const named = (what: string) => ({ ...file, sha256: what.padEnd(64, "0") });
  const assets = { locate: async ({ sha256 }: StoredFile) => sha256 };
  const other = open({
    entry,
    clock: { ...createSystemClock(), after: () => () => {} },
    assets: assets as never,
  });
  const sheet = other.read(named("hang"), "spritesheet");
  expect((await other.read(named("fine"), 64)).kind).toBe("picture");
  await other.stop();
  expect(await sheet).toEqual({ kind: "busy" });
});

test("more than an account may wait for are told to come again, and others' are made in between", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const located: string[] = [];
  const locate = ({ sha256 }: { sha256: string }) => {
    located.push(sha256.slice(0, 1));
    return promise;
  };
  const other = open({ assets: { locate } });
  const file = await put(await png(300, 200));
  const read = (account: number, i: number) => {
    const sha256 = `${account}${String(i).padStart(63, "0")}`;
    return other.read({ ...file, sha256, accountId: accountId(account) }, 64);
  };
  // Whichever of them asks last is busy: the others wait for what nobody locates yet.
  const ofOne = Array.from({ length: 257 }, (_, i) => read(1, i));
  expect(await Promise.race(ofOne)).toEqual({ kind: "busy" });
  const ofOther = Array.from({ length: 257 }, (_, i) => read(2, i));
  expect(await Promise.race(ofOther)).toEqual({ kind: "busy" });
  resolve(undefined);
  const kinds = (await Promise.all([...ofOne, ...ofOther])).map(({ kind }) => kind).sort();
  expect(kinds).toEqual(["busy", "busy", ...Array.from({ length: 512 }, () => "gone" as const)]);
  expect(located.slice(0, 6)).toEqual(["1", "1", "2", "1", "2", "1"]);
  await other.stop();
});
