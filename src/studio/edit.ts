import { drawCaption } from "./caption.ts";
import { loadImage, type Pixels, unreadable } from "./inputs.ts";
import { choosePalette } from "./palette.ts";
import { encodeImage } from "./picture.ts";
import { createRandom, type Random } from "./random.ts";
import { type EditJob, type ImageSource, InputInvalidError, type Rendered } from "./render-job.ts";
import { restyle } from "./restyle.ts";

const MOST_INPUTS = 16;

/**
 * Composes images side by side along slanted cuts and redraws them in a style and a palette decided by prompt and seed. Where a
 * mask is opaque, the pixels of the first input stay exactly as they were.
 *
 * @throws InputInvalidError for missing or unreadable inputs and for a mask without transparency
 */
export async function renderEdit(job: EditJob): Promise<Rendered> {
  const [first, ...others] = job.inputs;
  if (first === undefined) throw new InputInvalidError("An edit needs at least one input image.");
  if (job.inputs.length > MOST_INPUTS)
    throw new InputInvalidError(`An edit takes at most ${MOST_INPUTS} input images.`);
  const { width, height } = job;
  const wanted = width !== undefined && height !== undefined ? { width, height } : undefined;
  const base = await loadImage(first, "input image 1", wanted, job.within);
  const size = { width: base.width, height: base.height };
  const random = createRandom("edit", job.prompt, job.seed, job.index);
  const palette = choosePalette(job.prompt, random);
  const sources = [base];
  for (const [i, bytes] of others.entries())
    sources.push(await loadImage(bytes, `input image ${i + 2}`, size));
  const composed = compose(sources, random);
  const styled = await restyle(composed, palette, random);
  const captioned = await addCaption(styled, job);
  const result =
    job.mask === undefined ? captioned : keepMasked(base, captioned, await loadMask(job.mask, size));
  const { default: sharp } = await import("sharp");
  const image = sharp(result.rgba, { raw: { ...size, channels: 4 } });
  return encodeImage(job.format === "jpeg" ? image.removeAlpha() : image, { format: job.format, ...size });
}

/** One slanted strip for each picture, all of them covering the same frame, thin bright cuts between. */
function compose(sources: readonly Pixels[], random: Random): Pixels {
  const [base] = sources;
  if (base === undefined || sources.length === 1)
    return base ?? { rgba: new Uint8Array(), width: 0, height: 0 };
  const { width, height } = base;
  const rgba = new Uint8Array(base.rgba.length);
  const slant = random.range(0.12, 0.3) * (random.chance(0.5) ? 1 : -1);
  const gap = Math.max(1, Math.round(Math.min(width, height) / 160));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const place = ((x + slant * (y - height / 2)) / width) * sources.length;
      const strip = Math.min(sources.length - 1, Math.max(0, Math.floor(place)));
      const toCut = Math.min(place - strip, strip + 1 - place) * (width / sources.length);
      const at = (y * width + x) * 4;
      const isInner =
        (strip > 0 || place - strip > 0.5) && (strip < sources.length - 1 || place - strip < 0.5);
      if (isInner && toCut < gap) rgba.fill(250, at, at + 4);
      else {
        const from = sources[strip]?.rgba ?? base.rgba;
        for (let k = 0; k < 4; k++) rgba[at + k] = from[at + k] ?? 0;
      }
    }
  }
  return { rgba, width, height };
}

async function addCaption(pixels: Pixels, job: EditJob): Promise<Pixels> {
  const { width, height } = pixels;
  const caption = await drawCaption({ prompt: job.prompt, label: job.label, width, height, place: "top" });
  if (caption === "") return pixels;
  const { default: sharp } = await import("sharp");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${caption}</svg>`;
  const rgba = await sharp(pixels.rgba, { raw: { width, height, channels: 4 } })
    .composite([{ input: Buffer.from(svg) }])
    .raw()
    .toBuffer();
  return { rgba, width, height };
}

/** @returns how much of the original stays, one byte for each pixel */
async function loadMask(source: ImageSource, size: { width: number; height: number }): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const facts = await sharp(source).metadata().catch(unreadable("mask"));
  if (!facts.hasAlpha)
    throw new InputInvalidError("The mask has no transparency, so it marks nothing to edit.");
  const alpha = sharp(source, { limitInputPixels: 64_000_000, pages: 1 })
    .autoOrient()
    .ensureAlpha()
    .extractChannel("alpha");
  return alpha
    .resize(size.width, size.height, { fit: "fill", kernel: "linear" })
    .raw({ depth: "uchar" })
    .toBuffer()
    .catch(unreadable("mask"));
}

function keepMasked(original: Pixels, edited: Pixels, keep: Uint8Array): Pixels {
  const rgba = new Uint8Array(edited.rgba);
  for (let i = 0; i < keep.length; i++) {
    const kept = keep[i] ?? 255;
    if (kept === 0) continue;
    for (let k = i * 4; k < i * 4 + 4; k++) {
      const [before = 0, after = 0] = [original.rgba[k], edited.rgba[k]];
      rgba[k] = kept === 255 ? before : (before * kept + after * (255 - kept) + 127) / 255;
    }
  }
  return { ...edited, rgba };
}
