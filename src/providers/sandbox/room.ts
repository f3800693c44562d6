import { ProviderError } from "../../domain/ports/provider.ts";
import { sizeOf } from "./render-jobs.ts";
import type { Spec } from "./spec.ts";

/** Memory for each pixel of a picture until it is stored, at most (anonymous memory while pictures of 4096×4096 were made, 2026-12). */
const PIXEL_BYTES = 16;

/** @throws ProviderError for a picture that would take more memory than there is for it */
export function requireRoom(spec: Spec, bytes: number): void {
  if (pixelsOf(spec) * PIXEL_BYTES <= bytes) return;
  const most = Math.floor(bytes / PIXEL_BYTES / 100_000) / 10;
  const detail = `The sandbox has memory for pictures of ${most} million pixels here.`;
  throw new ProviderError("fail", "UPSTREAM_ERROR", detail);
}

/** Of a video none: it is made frame by frame. */
function pixelsOf(spec: Spec): number {
  const { generator, parameters, inputPixels = 0 } = spec;
  if (generator === "upscale") return inputPixels * (parameters.factor === 4 ? 16 : 4);
  if (generator !== "picture") return 0;
  const size = sizeOf(spec);
  return size === undefined ? inputPixels : size.width * size.height;
}
