import type { MediaProbe } from "./asset.ts";

/** Why a picture without transparency cannot be a mask, as a clause after the field's name. */
export const OPAQUE_MASK = "must have transparent areas, which say where the image is changed";

/**
 * Why a file cannot be a mask, as a clause after the field's name: it must be a PNG with transparency, as large as the image
 * (docs/api.md 4.3). Without `image`, only the mask itself is checked. Whether its alpha channel is used anywhere takes a look at its
 * pixels, which `AssetStore.maskOfOpaque` has.
 */
export function maskProblem(mask: MediaProbe, image: MediaProbe | undefined): string | undefined {
  if (mask.type !== "image/png") return `must be a PNG image, got ${mask.type}`;
  if (mask.hasAlpha === false) return OPAQUE_MASK;
  if (image === undefined || (mask.width === image.width && mask.height === image.height)) return undefined;
  return `must be as large as the image, ${image.width}x${image.height}, got ${mask.width}x${mask.height}`;
}
