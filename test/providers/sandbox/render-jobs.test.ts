import { expect, test } from "bun:test";
import type { InputRole } from "../../../src/domain/task/request.ts";
import { imageDimensions, videoDimensions } from "../../../src/providers/sandbox/dimensions.ts";
import { toRenderJob } from "../../../src/providers/sandbox/render-jobs.ts";
import type { Spec } from "../../../src/providers/sandbox/spec.ts";
import { hashText } from "../../../src/studio/random.ts";

const bytes = (n: number) => new Uint8Array([n]);
const spec = (over: Partial<Spec> = {}): Spec => ({
  generator: "picture",
  label: "sandbox-image",
  prompt: "A red fox",
  outputs: 1,
  parameters: {},
  inputs: [],
  ...over,
});

test.each([
  [{}, undefined],
  [{ size: "auto" }, undefined],
  [{ size: "1x4096" }, { width: 1, height: 4096 }],
  [{ resolution: "512" }, { width: 512, height: 512 }],
  [{ aspectRatio: "1:1" }, { width: 1024, height: 1024 }],
  [{ aspectRatio: "16:9" }, { width: 1368, height: 768 }],
  [
    { aspectRatio: "9:16", resolution: "2K" },
    { width: 1536, height: 2728 },
  ],
  [
    { aspectRatio: "21:9", resolution: "1K" },
    { width: 1568, height: 672 },
  ],
])("a picture of %j measures %j", (wanted, size) => {
  expect(imageDimensions(wanted)).toEqual(size!);
});

test("pictures are close to the proportions and pixels asked for, and within 4096 a side", () => {
  for (const ratio of [
    "1:1",
    "16:9",
    "9:16",
    "4:3",
    "3:4",
    "3:2",
    "2:3",
    "5:4",
    "4:5",
    "21:9",
    "9:21",
    "2:1",
    "1:2",
  ]) {
    for (const [resolution, side] of [
      ["512", 512],
      ["1K", 1024],
      ["2K", 2048],
    ] as const) {
      const size = imageDimensions({ aspectRatio: ratio, resolution })!;
      const [across, down] = ratio.split(":").map(Number);
      expect(size.width / size.height / (across! / down!)).toBeCloseTo(1, 1);
      expect((size.width * size.height) / side ** 2).toBeCloseTo(1, 1);
      expect(Math.max(size.width, size.height)).toBeLessThanOrEqual(4096);
    }
  }
});

test.each([
  ["360p", "16:9", { width: 640, height: 360 }],
  ["360p", "9:16", { width: 360, height: 640 }],
  ["720p", "16:9", { width: 1280, height: 720 }],
  ["720p", "1:1", { width: 720, height: 720 }],
])("a video of %s and %s measures %j", (resolution, ratio, size) => {
  expect(videoDimensions(resolution, ratio)).toEqual(size);
});

test("text makes a picture, 1024 a side and seeded by the prompt unless told", () => {
  const common = { kind: "picture", prompt: "A red fox", index: 0, label: "sandbox-image" } as const;
  expect(toRenderJob(spec(), 0, [])).toEqual({
    ...common,
    seed: hashText("A red fox"),
    width: 1024,
    height: 1024,
    format: "png",
  });
  const parameters = { seed: 0, size: "64x32", output_format: "webp" };
  expect(toRenderJob(spec({ parameters }), 2, [])).toEqual({
    ...common,
    index: 2,
    seed: 0,
    width: 64,
    height: 32,
    format: "webp",
  });
});

const image = (byte: number) => ({ image: bytes(byte) });

test("images and a mask make an edit, which keeps the first image's size unless told", () => {
  const inputs: InputRole[] = ["image", "image", "mask"];
  const job = toRenderJob(spec({ inputs }), 1, [1, 2, 3].map(image));
  expect(job).toMatchObject({ kind: "edit", index: 1, inputs: [bytes(1), bytes(2)], mask: bytes(3) });
  expect(job).not.toHaveProperty("width");
  const sized = toRenderJob(spec({ inputs, parameters: { aspect_ratio: "1:1" } }), 0, [
    ...[1, 2, 3].map(image),
  ]);
  expect(sized).toMatchObject({ width: 1024, height: 1024 });
});

const video = (over: Partial<Spec>) => spec({ generator: "video", ...over });
test.each([
  ["no image", video({}), { mode: "text", images: [] }],
  ["one image", video({ inputs: ["image"] }), { mode: "image", images: [bytes(0)] }],
  ["two images", video({ inputs: ["image", "image"] }), { mode: "frames", images: [bytes(0), bytes(1)] }],
  [
    "frames in any order",
    video({ generator: "video-frames", inputs: ["last_frame", "first_frame"] }),
    { mode: "frames", images: [bytes(1), bytes(0)] },
  ],
  [
    "references",
    video({ generator: "video-reference", inputs: ["reference"] }),
    { mode: "reference", images: [bytes(0)] },
  ],
  [
    "an edit",
    video({ generator: "video-edit", inputs: ["video"], parameters: { operation: "edit" } }),
    { mode: "edit", images: [], video: bytes(0), width: 0, height: 0 },
  ],
  [
    "an extension",
    video({ generator: "video-edit", inputs: ["video"], parameters: { operation: "extend", duration: 7 } }),
    { mode: "extend", video: bytes(0), width: 0, height: 0, durationSec: 7 },
  ],
  [
    "motion",
    video({ generator: "video-motion", inputs: ["image", "motion"], parameters: { resolution: "720p" } }),
    { mode: "motion", images: [bytes(0)], video: bytes(1), width: 1280, height: 720 },
  ],
] as const)("a video from %s is asked for as such", (_, given, expected) => {
  expect(
    toRenderJob(
      given,
      0,
      given.inputs.map((role, i) => (role === "video" || role === "motion" ? { video: bytes(i) } : image(i))),
    ),
  ).toMatchObject(expected);
});

test("several videos of one request have neighbouring seeds, within 32 bits", () => {
  const parameters = { seed: 2 ** 32 - 1 };
  expect([0, 1].map((index) => toRenderJob(video({ parameters }), index, []).seed)).toEqual([2 ** 32 - 1, 0]);
});
