import type { Sharp } from "sharp";
import { drawCaption } from "./caption.ts";
import type { Scene } from "./drawing.ts";
import { choosePalette, shade } from "./palette.ts";
import { createRandom } from "./random.ts";
import type { ImageFormat, PictureJob, Rendered } from "./render-job.ts";
import { composeScene } from "./scene.ts";

const TINY_SIDE = 16;

/** Draws the still picture of a prompt: the scene at its first moment under a caption. */
export async function renderPicture(job: PictureJob): Promise<Rendered> {
  const { width, height } = job;
  if (Math.max(width, height) <= TINY_SIDE)
    return encodeImage(await swatch(job), { format: job.format, width, height });
  const { default: sharp } = await import("sharp");
  const caption = await drawCaption(job);
  const art = sceneSvg(composeScene(job), width, height, caption);
  return encodeImage(sharp(Buffer.from(art), { limitInputPixels: false }).removeAlpha(), {
    format: job.format,
    width,
    height,
  });
}

/** A scene and a caption as one SVG document of exactly `width` × `height` pixels. */
export function sceneSvg(scene: Scene, width: number, height: number, caption: string): string {
  const body = scene.layers
    .map((layer) => (layer.pose?.(0).opacity === 0 ? "" : `<g>${layer.body}</g>`))
    .join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<svg width="${width}" height="${height}" viewBox="0 0 ${scene.width} ${scene.height}" preserveAspectRatio="xMidYMid slice">${body}</svg>` +
    `${caption}</svg>`
  );
}

/** Encodes with settings that favour speed, and describes the result. */
export async function encodeImage(
  image: Sharp,
  as: { format: ImageFormat; width: number; height: number },
): Promise<Rendered> {
  const bytes = await encoded(image, as.format);
  return { bytes, contentType: `image/${as.format}`, width: as.width, height: as.height };
}

async function encoded(image: Sharp, format: ImageFormat): Promise<Uint8Array> {
  switch (format) {
    case "png":
      return image.png({ compressionLevel: 4 }).toBuffer();
    case "jpeg":
      return image.jpeg({ quality: 90, chromaSubsampling: "4:4:4" }).toBuffer();
    case "webp":
      return image.webp({ quality: 88, effort: 2 }).toBuffer();
  }
}

/** Too small for a drawing: a few pixels of the palette, from dark to light. */
async function swatch(job: PictureJob): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  const { width, height } = job;
  const random = createRandom("swatch", job.prompt, job.seed, job.index);
  const palette = choosePalette(job.prompt, random);
  const offset = random.range(0.1, 0.5);
  const pixels = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) {
    const across = ((i % width) + Math.floor(i / width)) / (width + height);
    pixels.set(shade(palette, offset + across), i * 3);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}
