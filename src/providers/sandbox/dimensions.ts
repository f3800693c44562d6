import type { Size } from "../../domain/media/size.ts";

const IMAGE_SIDE: Readonly<Record<string, number>> = { "512": 512, "1K": 1024, "2K": 2048 };
const VIDEO_SIDE: Readonly<Record<string, number>> = { "360p": 360, "720p": 720 };
/** Both sides are multiples of this, which encoders handle best. */
const STEP = 8;

/** The size given, or the proportions given with the pixels of the resolution's square; undefined when the request gives none. */
export function imageDimensions(wanted: {
  readonly size?: string | undefined;
  readonly aspectRatio?: string | undefined;
  readonly resolution?: string | undefined;
}): Size | undefined {
  const named = pair(wanted.size, "x");
  if (named !== undefined) return { width: named[0], height: named[1] };
  if (wanted.aspectRatio === undefined && wanted.resolution === undefined) return undefined;
  const [across, down] = pair(wanted.aspectRatio, ":") ?? [1, 1];
  const side = IMAGE_SIDE[wanted.resolution ?? "1K"] ?? 1024;
  const stretch = Math.sqrt(across / down);
  return { width: toStep(side * stretch), height: toStep(side / stretch) };
}

/** Chooses the size of a video from its shorter side and its proportions. Both sides are even. */
export function videoDimensions(resolution = "360p", aspectRatio = "16:9"): Size {
  const side = VIDEO_SIDE[resolution] ?? 360;
  const [across, down] = pair(aspectRatio, ":") ?? [16, 9];
  return across >= down
    ? { width: even((side * across) / down), height: side }
    : { width: side, height: even((side * down) / across) };
}

function pair(text: string | undefined, separator: string): [number, number] | undefined {
  const [first, second, ...rest] = (text ?? "").split(separator).map(Number);
  if (first === undefined || second === undefined || rest.length > 0) return undefined;
  return first > 0 && second > 0 ? [first, second] : undefined;
}

function toStep(pixels: number): number {
  return Math.max(STEP, Math.round(pixels / STEP) * STEP);
}

function even(pixels: number): number {
  return Math.round(pixels / 2) * 2;
}
