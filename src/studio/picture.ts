import type { Sharp } from "sharp";
import { drawCaption } from "./caption.ts";
import type { Scene } from "./drawing.ts";
import type { ImageFormat, PictureJob, Rendered } from "./render-job.ts";
import { composeScene } from "./scene.ts";
import { drawSwatch, isSwatch } from "./swatch.ts";

/** Draws the still picture of a prompt: the scene at its first moment under a caption. */
export async function renderPicture(job: PictureJob): Promise<Rendered> {
  const { width, height } = job;
  const { default: sharp } = await import("sharp");
  if (isSwatch(job)) {
    const raw = { width, height, channels: 3 } as const;
    return encodeImage(sharp(drawSwatch(job), { raw }), { format: job.format, width, height });
  }
  const caption = await drawCaption(job);
  const art = sceneSvg(composeScene(job), width, height, caption);
  return encodeImage(sharp(Buffer.from(art), { limitInputPixels: false }).removeAlpha(), {
    format: job.format,
    width,
    height,
  });
}

/** A scene and a caption as one SVG document of exactly `width` × `height` pixels. */
function sceneSvg(scene: Scene, width: number, height: number, caption: string): string {
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
      return image.png({ compressionLevel: 2 }).toBuffer();
    case "jpeg":
      return image.jpeg({ quality: 90, chromaSubsampling: "4:4:4" }).toBuffer();
    case "webp":
      return image.webp({ quality: 88, effort: 2 }).toBuffer();
  }
}
