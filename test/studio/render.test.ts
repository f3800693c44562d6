import { afterAll, describe, expect, test } from "bun:test";
import sharp from "sharp";
import { createRenderer } from "../../src/studio/render.ts";
import type { EditJob, ImageFormat, PictureJob, RenderJob } from "../../src/studio/render-job.ts";

const renderer = createRenderer({ workers: 2 });
afterAll(() => renderer.stop());

const never = new AbortController().signal;
const draw = (job: RenderJob) => renderer.render(job, never);

function picture(fields: Partial<PictureJob> = {}): PictureJob {
  return {
    kind: "picture",
    prompt: "misty mountains at sunset",
    seed: 1,
    index: 0,
    width: 160,
    height: 128,
    format: "png",
    label: "aurora-1",
    ...fields,
  };
}

function edit(fields: Partial<EditJob> & Pick<EditJob, "inputs">): EditJob {
  return { kind: "edit", prompt: "in winter", seed: 1, index: 0, format: "png", label: "", ...fields };
}

/** Random-looking pixels with some transparency, as an input that nothing could reproduce by chance. */
async function noisyPng(width: number, height: number): Promise<Uint8Array> {
  const rgba = Uint8Array.from({ length: width * height * 4 }, (_, i) => (i * 7919 + (i >> 3) * 31) & 255);
  for (let i = 3; i < rgba.length; i += 4) rgba[i] = 255;
  return sharp(rgba, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

/** Left half opaque, right half transparent. */
function halfMask(width: number, height: number): Promise<Uint8Array> {
  const rgba = new Uint8Array(width * height * 4);
  for (let i = 0; i < width * height; i++) rgba[i * 4 + 3] = i % width < width / 2 ? 255 : 0;
  return sharp(rgba, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

async function pixels(bytes: Uint8Array): Promise<{ data: Uint8Array; width: number; height: number }> {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

describe("pictures", () => {
  test("the same job gives the same bytes, also from another renderer", async () => {
    const other = createRenderer({ workers: 1 });
    try {
      const [a, b, c] = await Promise.all([draw(picture()), draw(picture()), other.render(picture(), never)]);
      expect(b).toEqual(a);
      expect(c).toEqual(a);
    } finally {
      await other.stop();
    }
  });

  test("prompt, seed and index each change the picture", async () => {
    const jobs = [picture(), picture({ prompt: "a red dog" }), picture({ seed: 2 }), picture({ index: 1 })];
    const results = await Promise.all(jobs.map(draw));
    expect(new Set(results.map(({ bytes }) => Bun.hash(bytes))).size).toBe(4);
  });

  test.each<[ImageFormat, number, number]>([
    ["png", 1, 1],
    ["png", 1, 900],
    ["png", 17, 5],
    ["jpeg", 257, 131],
    ["webp", 300, 200],
    ["png", 4096, 16],
  ])("a %s of %d × %d decodes to that format and size", async (format, width, height) => {
    const result = await draw(picture({ format, width, height }));
    const facts = await sharp(result.bytes).metadata();
    expect([facts.format, facts.width, facts.height, facts.hasAlpha]).toEqual([format, width, height, false]);
    expect([result.contentType, result.width, result.height]).toEqual([`image/${format}`, width, height]);
  });

  test.each([
    ["empty", ""],
    ["broken surrogates and controls", "\ud800 a\u0000b\udfff\u202e\ufeff\n\t"],
    ["emoji and scripts without glyphs", "👩‍👩‍👧 高い山 שלום مرحبا ประเทศไทย"],
    ["accents and Cyrillic", "Łódź, Ćma i Жизнь — Ελλάδα… ắ"],
    ["one endless word", "x".repeat(5000)],
    ["markup", `</text><script>"&'`],
  ])("a prompt that is %s is drawn", async (_, prompt) => {
    expect((await draw(picture({ prompt, width: 200, height: 200 }))).bytes.length).toBeGreaterThan(500);
  });

  test("every family survives extreme shapes", async () => {
    const prompts = ["mountains", "planets", "crystal", "fabric", "silk", "paper"];
    const jobs = prompts.flatMap((prompt, i) => [
      picture({ prompt, seed: i, width: 10, height: 400 }),
      picture({ prompt, seed: i + 9, width: 400, height: 65 }),
    ]);
    const results = await Promise.all(jobs.map(draw));
    expect(
      results.map(({ width, height }) => `${width}×${height}`).filter((size) => size === "10×400"),
    ).toHaveLength(6);
  });
});

describe("edits", () => {
  test("an edit keeps the input's size and changes its pixels", async () => {
    const input = await noisyPng(96, 64);
    const result = await draw(edit({ inputs: [input] }));
    expect([result.width, result.height]).toEqual([96, 64]);
    expect((await pixels(result.bytes)).data).not.toEqual((await pixels(input)).data);
  });

  test("an edit takes another size when asked", async () => {
    const result = await draw(
      edit({ inputs: [await noisyPng(96, 64)], width: 50, height: 70, format: "jpeg" }),
    );
    expect([result.width, result.height, result.contentType]).toEqual([50, 70, "image/jpeg"]);
  });

  test("an edit of several inputs differs from the edit of the first alone", async () => {
    const [a, b] = [await noisyPng(64, 64), (await draw(picture())).bytes];
    const alone = await draw(edit({ inputs: [a] }));
    const together = await draw(edit({ inputs: [a, b] }));
    expect(together.bytes).not.toEqual(alone.bytes);
  });

  test.each([
    ["of the same size", 200, 160],
    ["of another size", 50, 40],
  ])(
    "under a mask %s, opaque areas keep every pixel and transparent areas change",
    async (_, width, height) => {
      const input = await noisyPng(200, 160);
      const result = await draw(edit({ inputs: [input], mask: await halfMask(width, height) }));
      const [before, after] = [await pixels(input), await pixels(result.bytes)];
      let [keptOnLeft, keptOnRight] = [0, 0];
      for (let i = 0; i < 200 * 160; i++) {
        const same = before.data
          .subarray(i * 4, i * 4 + 4)
          .every((value, k) => value === after.data[i * 4 + k]);
        // A resized mask is soft for a few pixels around its edge.
        if (same && i % 200 < 96) keptOnLeft++;
        if (same && i % 200 >= 104) keptOnRight++;
      }
      expect(keptOnLeft).toBe(96 * 160);
      expect(keptOnRight).toBeLessThan(96 * 160 * 0.02);
    },
  );

  test.each<[string, Partial<EditJob>]>([
    ["no input", { inputs: [] }],
    ["an input that is no image", { inputs: [new TextEncoder().encode("not an image")] }],
    ["a mask that is no image", { mask: new Uint8Array(40) }],
  ])("%s is refused as invalid input", async (_, fields) => {
    const job = edit({ inputs: [await noisyPng(8, 8)], ...fields });
    await expect(draw(job)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test.each<[string, Partial<EditJob>]>([
    ["an input", { inputs: ["/nonexistent/input"] }],
    ["a mask", { mask: "/nonexistent/mask" }],
  ])("%s whose file cannot be opened is not the input's fault", async (_, fields) => {
    const job = edit({ inputs: [await noisyPng(8, 8)], ...fields });
    const error = await draw(job).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining("ENOENT") });
    expect(error).not.toHaveProperty("code", "INPUT_INVALID");
  });

  test("a mask without transparency is refused as invalid input", async () => {
    const mask = await sharp(await noisyPng(8, 8))
      .removeAlpha()
      .png()
      .toBuffer();
    const job = edit({ inputs: [await noisyPng(8, 8)], mask });
    await expect(draw(job)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
