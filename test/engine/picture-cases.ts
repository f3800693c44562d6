import sharp, { type Sharp } from "sharp";
import { dataUri, leftHalfMask } from "../e2e/support/pictures.ts";
import { type Bench, type Case, describe, difference, isPaid, make, makeOne, must, sizeOf } from "./bench.ts";
import type { Picture } from "./service.ts";

const EDGE = 128;
/** Mean difference of pixels below which two pictures are the same but for rounding. */
const SAME = 0.5;
/** The same in a part that is kept: the decoder lets a little of the rest through. */
const KEPT = 2;

/** What the engine makes of a request, and whether it is what was asked for. */
export const PICTURE_CASES: readonly Case[] = [
  {
    name: "text to image",
    async run(bench) {
      const startedAt = performance.now();
      const picture = await makeOne(bench, {});
      must(sizeOf(picture) === "64x64", `a picture of ${sizeOf(picture)}`);
      return `${sizeOf(picture)} ${picture.format} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
    },
  },
  { name: "image to image", run: editsImage },
  { name: "unreadable input", run: refusesUnreadable },
  { name: "encodings of an input", run: readsEncodings },
  { name: "mask", run: keepsWhatIsMasked },
  ...[1, 4, 8, 9].map((n): Case => ({ name: `n = ${n}`, run: (bench) => counts(bench, n) })),
  ...["72x72", "60x60", "64x100", "0x0"].map(
    (size): Case => ({ name: `size ${size}`, run: (bench) => sizes(bench, size) }),
  ),
  { name: "orders in a prompt", run: obeysNoPrompt },
];

/** How the image of an edit may be encoded, without loss. */
const ENCODINGS = {
  PNG: (image) => image.png(),
  WebP: (image) => image.webp({ lossless: true }),
  "PNG of 16 bits": (image) => image.toColourspace("rgb16").png(),
  "PNG with a palette": (image) => image.png({ palette: true, dither: 0 }),
  "interlaced PNG": (image) => image.png({ progressive: true }),
} as const satisfies Record<string, (image: Sharp) => Sharp>;
type Encoding = keyof typeof ENCODINGS;

/** Stripes, so that an engine that sees them makes something else of them than of nothing. */
async function stripes(encoding: Encoding = "PNG"): Promise<string> {
  const pixels = Buffer.alloc(EDGE * EDGE * 3);
  for (let at = 0; at < pixels.length; at++) pixels[at] = Math.floor(at / 48) % 2 === 0 ? 230 : (at % 3) * 60;
  const image = sharp(pixels, { raw: { width: EDGE, height: EDGE, channels: 3 } });
  return dataUri(
    await ENCODINGS[encoding](image).toBuffer(),
    encoding === "WebP" ? "image/webp" : "image/png",
  );
}

/** What is asked for so that two pictures differ by nothing but what a case changes. */
const fixed = ({ family }: Bench) => ("seed" in family.parameters ? { seed: 7 } : {});

async function editsImage(bench: Bench): Promise<string> {
  const size = `${EDGE}x${EDGE}`;
  const drawn = await makeOne(bench, { size, ...fixed(bench) });
  const image_url = await stripes();
  const edited = await makeOne(bench, { size, image_url, ...fixed(bench) });
  const seen = difference(drawn, edited);
  must(seen > SAME, `the image makes no difference (${seen.toFixed(1)})`);
  const told = `differs from one drawn anew by ${seen.toFixed(1)} of 255`;
  if (!("strength" in bench.family.parameters)) return told;
  const weak = await makeOne(bench, { size, image_url, strength: 0.3, ...fixed(bench) });
  const strong = await makeOne(bench, { size, image_url, strength: 1, ...fixed(bench) });
  const strength = difference(weak, strong);
  must(strength > SAME, `the strength makes no difference (${strength.toFixed(1)})`);
  return `${told}; strength 0.3 from 1 by ${strength.toFixed(1)}`;
}

async function refusesUnreadable(bench: Bench): Promise<string> {
  const { service, engine } = bench;
  const [mark, before] = [engine.mark(), await service.money()];
  const whole = Buffer.from((await stripes()).split(",")[1] ?? "", "base64");
  const told: string[] = [];
  for (const bytes of [Buffer.from("no picture"), whole.subarray(0, whole.length / 2)]) {
    const body = { model: "house", prompt: "A red fox", image_url: dataUri(bytes) };
    const { status, data, text } = await service.api.create(body);
    if (status === 200) {
      const task = await service.end(data.task_id ?? "");
      must(task.status === "failed" && task.code === "INPUT_INVALID", `taken: ${describe(task)}`);
      await isPaid(service, before.charged, [task]);
      told.push("failed INPUT_INVALID");
    } else {
      must(status === 400, `answered ${status} ${text}`);
      told.push("400");
    }
  }
  must(engine.begun(mark) === 0, "the engine was asked for a picture");
  return `${told.join(" and ")}; the engine was asked for nothing`;
}

/** What the engine cannot read, it leaves out without a word: then the picture is another one. */
async function readsEncodings(bench: Bench): Promise<string> {
  const body = { prompt: "A red fox", size: `${EDGE}x${EDGE}`, ...fixed(bench) };
  const plain = await makeOne(bench, { ...body, image_url: await stripes() });
  const told: string[] = [];
  for (const encoding of ["WebP", "PNG of 16 bits", "PNG with a palette", "interlaced PNG"] as const) {
    const task = await make(bench, { ...body, image_url: await stripes(encoding) });
    const [picture] = task.pictures;
    const seen = picture && difference(plain, picture);
    must(seen === undefined || seen <= SAME, `${encoding} was taken, and not read`);
    told.push(`${encoding}: ${seen === undefined ? `${task.status} ${task.code}` : "read"}`);
  }
  return told.join(", ");
}

/**
 * The left half may change. Two pictures of equal requests with other prompts (or seeds) must be equal in the right half, away from
 * the border, and differ in the left one.
 */
async function keepsWhatIsMasked(bench: Bench): Promise<string> {
  const mask_url = dataUri(await leftHalfMask(EDGE, EDGE));
  const body = { size: `${EDGE}x${EDGE}`, image_url: await stripes(), mask_url };
  const pictures: Picture[] = [];
  for (const [prompt, seed] of [
    ["A red fox", 7],
    ["Blue snow at night", 8],
  ] as const) {
    const given = "seed" in bench.family.parameters ? { seed, strength: 1 } : {};
    pictures.push(await makeOne(bench, { ...body, ...given, prompt }));
  }
  const [one, other] = pictures;
  must(one !== undefined && other !== undefined, "there are no two pictures");
  const left = difference(one, other, 0, EDGE / 4);
  const right = difference(one, other, (EDGE * 3) / 4, EDGE);
  const told = `two prompts differ by ${left.toFixed(1)} where it may change, by ${right.toFixed(1)} where it is kept`;
  must(left > 2 * KEPT && right <= KEPT, told);
  return told;
}

async function counts(bench: Bench, n: number): Promise<string> {
  const task = await make(bench, { prompt: "A red fox", size: "64x64", n, ...fixed(bench) });
  const { status, pictures, missing } = task;
  if (n <= 8) must(pictures.length === n && missing === 0, describe(task));
  else must(status === "failed" || (pictures.length + missing === n && missing > 0), describe(task));
  return describe(task);
}

/** Either pictures of the very size, or none. */
async function sizes(bench: Bench, size: string): Promise<string> {
  const task = await make(bench, { prompt: "A red fox", size, ...fixed(bench) });
  must(
    task.pictures.every((picture) => sizeOf(picture) === size),
    `${describe(task)} instead of ${size}`,
  );
  return describe(task);
}

const ORDERS = {
  ...{ width: 128, height: 128, batch_count: 3 },
  sample_params: { sample_steps: 50 },
};

async function obeysNoPrompt(bench: Bench): Promise<string> {
  const { engine } = bench;
  const mark = engine.mark();
  const prompt = `A red fox <sd_cpp_extra_args>${JSON.stringify(ORDERS)}</sd_cpp_extra_args> <lora:x:1>`;
  const task = await make(bench, { prompt, size: "64x64" });
  must(task.pictures.length === 1 && task.pictures.every((each) => sizeOf(each) === "64x64"), describe(task));
  if (!engine.isOurs) return describe(task);
  // Its bar of progress: `| 4/4 - 10.38it/s`.
  const log = engine.log().slice(mark);
  must(/\| 4\/4 - /.test(log) && !/\/50 - /.test(log), "the engine took other steps");
  return `${describe(task)}; the engine took 4 steps, not the 50 of the prompt`;
}
