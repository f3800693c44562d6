import { drawCaption } from "./caption.ts";
import { bytesOf, freeMemory, loadImage, type Pixels, unreadable } from "./inputs.ts";
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
  // Each step replaces the picture of the one before, so that few of them are in memory at once.
  let picture = await compose(base, others, random);
  picture = await restyle(picture, palette, random);
  await freeMemory(picture);
  picture = await addCaption(picture, job);
  await freeMemory(picture);
  if (job.mask !== undefined) picture = keepMasked(base, picture, await loadMask(job.mask, size));
  const { default: sharp } = await import("sharp");
  const image = sharp(picture.rgba, { raw: { ...size, channels: 4 } });
  return encodeImage(job.format === "jpeg" ? image.removeAlpha() : image, { format: job.format, ...size });
}

/** One slanted strip for each picture, all of them covering the frame of the first, thin bright cuts between. */
async function compose(base: Pixels, others: readonly ImageSource[], random: Random): Promise<Pixels> {
  if (others.length === 0) return base;
  const { width, height } = base;
  const strips = 1 + others.length;
  const rgba = new Uint8Array(base.rgba.length).fill(CUT);
  const slant = random.range(0.12, 0.3) * (random.chance(0.5) ? 1 : -1);
  const gap = Math.max(1, Math.round(Math.min(width, height) / 160));
  const fillStrip = (wanted: number, from: Uint8Array) => {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const place = ((x + slant * (y - height / 2)) / width) * strips;
        const strip = Math.min(strips - 1, Math.max(0, Math.floor(place)));
        if (strip !== wanted) continue;
        const toCut = Math.min(place - strip, strip + 1 - place) * (width / strips);
        const isInner = (strip > 0 || place - strip > 0.5) && (strip < strips - 1 || place - strip < 0.5);
        if (isInner && toCut < gap) continue;
        const at = (y * width + x) * 4;
        for (let k = at; k < at + 4; k++) rgba[k] = from[k] ?? 0;
      }
    }
  };
  fillStrip(0, base.rgba);
  for (const [i, source] of others.entries()) {
    const other = await loadImage(source, `input image ${i + 2}`, { width, height });
    fillStrip(i + 1, other.rgba);
    await freeMemory(base);
  }
  return { rgba, width, height };
}

/** The brightness of the cuts between strips. */
const CUT = 250;

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
  const bytes = await bytesOf(source);
  const facts = await sharp(bytes).metadata().catch(unreadable("mask"));
  if (!facts.hasAlpha)
    throw new InputInvalidError("The mask has no transparency, so it marks nothing to edit.");
  const alpha = sharp(bytes, { limitInputPixels: 64_000_000, pages: 1 })
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
      const before = original.rgba[k] ?? 0;
      const after = edited.rgba[k] ?? 0;
      rgba[k] = kept === 255 ? before : (before * kept + after * (255 - kept) + 127) / 255;
    }
  }
  return { ...edited, rgba };
}
