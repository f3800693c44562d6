import { afterAll, describe, expect, test } from "bun:test";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import sharp from "sharp";
import { openSource } from "../../src/studio/decode.ts";
import { createRenderer } from "../../src/studio/render.ts";
import type { VideoJob } from "../../src/studio/render-job.ts";

const renderer = createRenderer({ workers: 2 });
afterAll(() => renderer.stop());

const never = new AbortController().signal;

function video(fields: Partial<VideoJob> = {}): VideoJob {
  return {
    kind: "video",
    mode: "text",
    prompt: "planets and galaxy",
    seed: 1,
    durationSec: 1,
    width: 192,
    height: 108,
    images: [],
    label: "",
    ...fields,
  };
}

const film = (fields: Partial<VideoJob> = {}) => renderer.render(video(fields), never);

function flat(colour: string, width = 64, height = 36): Promise<Uint8Array> {
  return sharp({ create: { width, height, channels: 3, background: colour } })
    .png()
    .toBuffer();
}

async function probe(bytes: Uint8Array) {
  const track = (await new Input({
    source: new BufferSource(bytes),
    formats: ALL_FORMATS,
  }).getPrimaryVideoTrack())!;
  const keys: number[] = [];
  let frames = 0;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    if (packet.type === "key") keys.push(frames);
    frames++;
  }
  const durationSec = Math.round((await track.computeDuration()) * 1e6) / 1e6;
  return {
    codec: track.codec,
    width: track.displayWidth,
    height: track.displayHeight,
    durationSec,
    frames,
    keys,
  };
}

/** Luma at the middle of the picture shown at each asked second. */
async function lumaAt(bytes: Uint8Array, ...seconds: number[]): Promise<number[]> {
  const source = await openSource(bytes);
  const found: number[] = [];
  for await (const { frame, untilSec } of source.pictures!()) {
    while (found.length < seconds.length && untilSec > seconds[found.length]! + 1e-3) {
      found.push(frame.y[(frame.height >> 1) * frame.width + (frame.width >> 1)]!);
    }
  }
  return found;
}

function boxNames(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += view.getUint32(at)) {
    names.push(String.fromCharCode(...bytes.subarray(at + 4, at + 8)));
  }
  return names;
}

describe("videos from text and images", () => {
  test.each([
    [1, 192, 108],
    [2, 108, 192],
    [3, 98, 98],
  ])("%d s of %d × %d is H.264 with exactly that length and size", async (durationSec, width, height) => {
    const result = await film({ durationSec, width, height });
    expect(result).toMatchObject({ contentType: "video/mp4", width, height, durationSec });
    const keys = durationSec === 3 ? [0, 48] : [0];
    expect(await probe(result.bytes)).toEqual({
      codec: "avc",
      width,
      height,
      durationSec,
      frames: durationSec * 24,
      keys,
    });
  });

  test("the index comes before the pictures", async () => {
    const names = boxNames((await film()).bytes);
    expect(names.indexOf("moov")).toBeGreaterThan(0);
    expect(names.indexOf("moov")).toBeLessThan(names.indexOf("mdat"));
  });

  test("the same job gives the same bytes, also from another renderer and a second later", async () => {
    const other = createRenderer({ workers: 1 });
    try {
      const first = await film();
      await Bun.sleep(1_050);
      expect((await other.render(video(), never)).bytes).toEqual(first.bytes);
    } finally {
      await other.stop();
    }
  });

  test("a video of two frames starts as the first image and ends as the last", async () => {
    const images = [await flat("#202020"), await flat("#d0d0d0")];
    const { bytes } = await film({ mode: "frames", images });
    const [start, end] = await lumaAt(bytes, 0, 23 / 24);
    expect(Math.abs(start! - (16 + 0x20 * 0.859))).toBeLessThan(5);
    expect(Math.abs(end! - (16 + 0xd0 * 0.859))).toBeLessThan(5);
  });

  test("an image is brought to life", async () => {
    expect(await probe((await film({ mode: "image", images: [await flat("#446688")] })).bytes)).toMatchObject(
      { frames: 24 },
    );
  });

  test("one to five reference images are taken, six are refused", async () => {
    const images = await Promise.all(
      ["red", "green", "blue", "white", "orange"].map((colour) => flat(colour)),
    );
    expect((await film({ mode: "reference", images })).durationSec).toBe(1);
    const refusal = await film({ mode: "reference", images: [...images, images[0]!] }).catch(
      (error) => error,
    );
    expect(refusal).toMatchObject({ code: "INPUT_INVALID" });
  });

  test.each<[string, Partial<VideoJob>]>([
    ["no image", { mode: "image" }],
    ["no reference", { mode: "reference" }],
    ["a broken image", { mode: "frames", images: [new Uint8Array(9)] }],
    ["no source video", { mode: "extend" }],
    ["a source that is no video", { mode: "edit", video: new Uint8Array(500) }],
    ["a motion video without an image", { mode: "motion", video: new Uint8Array(500) }],
  ])("%s is refused as invalid input", async (_, fields) => {
    await expect(film(fields)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("videos from videos", () => {
  const source = async () =>
    (await film({ mode: "frames", images: [await flat("#101010"), await flat("#f0f0f0")] })).bytes;

  test("an extension is the source and then as much more as was asked for, in the source's size", async () => {
    const { bytes } = await film({
      mode: "extend",
      video: await source(),
      durationSec: 2,
      width: 0,
      height: 0,
    });
    expect(await probe(bytes)).toMatchObject({ width: 192, height: 108, durationSec: 3 });
    const [start, middle] = await lumaAt(bytes, 0, 23 / 24);
    expect(start).toBeLessThan(50);
    expect(middle).toBeGreaterThan(200);
  });

  test("an edit lasts as long as its source and can take another size", async () => {
    const { bytes } = await film({
      mode: "edit",
      video: await source(),
      durationSec: 9,
      width: 96,
      height: 96,
    });
    expect(await probe(bytes)).toMatchObject({ width: 96, height: 96, durationSec: 1 });
  });

  test("a motion video decides how long an image moves", async () => {
    const { bytes } = await film({
      mode: "motion",
      video: await source(),
      images: [await flat("#777")],
      durationSec: 9,
    });
    expect(await probe(bytes)).toMatchObject({ durationSec: 1 });
  });

  test("a source in a profile that cannot be decoded still gives a video of the right length", async () => {
    const bytes = await source();
    // The profile byte of the avcC record: 0x42 is baseline, 0x64 is high.
    bytes[Buffer.from(bytes).indexOf("avcC") + 5] = 0x64;
    const result = await film({ mode: "extend", video: bytes, width: 0, height: 0 });
    expect(await probe(result.bytes)).toMatchObject({ width: 192, height: 108, durationSec: 2 });
  });
});
