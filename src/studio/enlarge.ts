import { LARGEST_SIDE, loadImage } from "./inputs.ts";
import { encodeImage } from "./picture.ts";
import type { EnlargeJob, Rendered } from "./render-job.ts";

/**
 * Makes an image larger, and leaves what it shows as it is. No side becomes longer than 4096 pixels.
 * @throws InputInvalidError when the bytes are no image
 */
export async function renderEnlargement({ input, factor, format }: EnlargeJob): Promise<Rendered> {
  const source = await loadImage(input, "input image 1");
  const most = LARGEST_SIDE / Math.max(source.width, source.height);
  const by = Math.max(1, Math.min(factor, most));
  const size = { width: Math.round(source.width * by), height: Math.round(source.height * by) };
  const { default: sharp } = await import("sharp");
  const raw = { width: source.width, height: source.height, channels: 4 as const };
  const image = sharp(source.rgba, { raw })
    .resize(size.width, size.height, { fit: "fill", kernel: "lanczos3" })
    .sharpen({ sigma: 0.8 });
  return encodeImage(format === "jpeg" ? image.removeAlpha() : image, { format, ...size });
}
