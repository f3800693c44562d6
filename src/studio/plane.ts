import { kernelsOf } from "./arena.ts";
import type { Kernels } from "./kernels.ts";

/** From sprite pixels to frame pixels: x' = a·x + b·y + e, y' = c·x + d·y + f. */
export interface Matrix {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/** A rectangle of pixels; `right` and `bottom` are just outside. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface TargetPlane {
  readonly pixels: Uint8Array;
  readonly width: number;
}

/** Premultiplied samples, and their alpha unless all are opaque. */
export interface SourcePlane {
  readonly pixels: Uint8Array;
  readonly alpha: Uint8Array | undefined;
  readonly width: number;
  readonly height: number;
}

const ONE = 65536;

/**
 * Draws one plane, bilinearly filtered: the inner loop of every video. It allocates nothing. Coordinates are 16.16 fixed point,
 * which fits planes of up to 32767 samples a side.
 *
 * @param back from target sample indices to source sample indices
 * @param strength opacity, 0 … 256
 */
export function drawPlane(
  target: TargetPlane,
  source: SourcePlane,
  back: Matrix,
  area: Area,
  strength: number,
): void {
  const stepX = Math.round(back.a * ONE);
  const stepY = Math.round(back.c * ONE);
  const lastX = (source.width - 1) * ONE;
  const lastY = (source.height - 1) * ONE;
  const kernels = kernelsOf(target.pixels, source.pixels, source.alpha);
  for (let y = area.top; y < area.bottom; y++) {
    const startX = Math.round((back.a * area.left + back.b * y + back.e) * ONE);
    const startY = Math.round((back.c * area.left + back.d * y + back.f) * ONE);
    const count = area.right - area.left;
    const from = Math.max(firstInside(startX, stepX, lastX), firstInside(startY, stepY, lastY), 0);
    const to = Math.min(lastInside(startX, stepX, lastX), lastInside(startY, stepY, lastY), count - 1) + 1;
    const at = y * target.width + area.left;
    const fx = startX + stepX * from;
    const fy = startY + stepY * from;
    const inside = to > from;
    // The edge samples lack neighbours to blend with; leaving them out would let the background through.
    drawEdge(target, source, at, startX, startY, stepX, stepY, 0, inside ? from : count, strength);
    if (!inside) continue;
    if (kernels !== undefined) {
      drawByKernels(kernels, target.pixels, source, at + from, to - from, fx, fy, stepX, stepY, strength);
    } else if (source.alpha === undefined) {
      drawOpaque(target.pixels, source, at + from, to - from, fx, fy, stepX, stepY, strength);
    } else {
      drawBlended(target.pixels, source, source.alpha, at + from, to - from, fx, fy, stepX, stepY, strength);
    }
    drawEdge(target, source, at, startX, startY, stepX, stepY, to, count, strength);
  }
}

/** The first step whose coordinate is in [0, last); a large number when there is none. */
function firstInside(start: number, step: number, last: number): number {
  if (step === 0) return start >= 0 && start < last ? 0 : Number.MAX_SAFE_INTEGER;
  return step > 0 ? Math.ceil(-start / step) : Math.floor((last - start) / step) + 1;
}

/** The last step whose coordinate is in [0, last); −1 when there is none. */
function lastInside(start: number, step: number, last: number): number {
  if (step === 0) return start >= 0 && start < last ? Number.MAX_SAFE_INTEGER : -1;
  return step > 0 ? Math.ceil((last - start) / step) - 1 : Math.floor(-start / step);
}

function drawByKernels(
  kernels: Kernels,
  { byteOffset }: Uint8Array,
  { pixels, alpha, width }: SourcePlane,
  start: number,
  count: number,
  fx: number,
  fy: number,
  stepX: number,
  stepY: number,
  strength: number,
): void {
  const [from, end] = [byteOffset + start, byteOffset + start + count];
  const isShifted = stepX === ONE && stepY === 0 && (alpha !== undefined || strength === 256);
  const eights = isShifted ? count & ~7 : 0;
  const [right, down] = [(fx >> 8) & 255, (fy >> 8) & 255];
  const first = (fy >> 16) * width + (fx >> 16);
  const plane = pixels.byteOffset;
  const rest = fx + eights * ONE;
  if (alpha === undefined) {
    if (eights > 0) kernels.copyShifted(from, from + eights, plane + first, width, right, down);
    if (eights < count)
      kernels.copyTurned(from + eights, end, plane, width, rest, fy, stepX, stepY, strength);
  } else {
    const cover = alpha.byteOffset;
    if (eights > 0)
      kernels.blendShifted(from, from + eights, plane + first, width, right, down, cover + first, strength);
    if (eights < count)
      kernels.blendTurned(from + eights, end, plane, width, rest, fy, stepX, stepY, strength, cover);
  }
}

// biome-ignore-start lint/style/noNonNullAssertion: every index below is inside its plane by the bounds worked out above; a default for each would double the time.

function drawOpaque(
  target: Uint8Array,
  source: SourcePlane,
  start: number,
  count: number,
  startX: number,
  startY: number,
  stepX: number,
  stepY: number,
  strength: number,
): void {
  const { pixels, width } = source;
  const fade = 256 - strength;
  let fx = startX | 0;
  let fy = startY | 0;
  for (let at = start, end = start + count; at < end; at++) {
    const p = (fy >> 16) * width + (fx >> 16);
    const wx = (fx >> 8) & 255;
    const wy = (fy >> 8) & 255;
    const upper = (pixels[p]! << 8) + (pixels[p + 1]! - pixels[p]!) * wx;
    const lower = (pixels[p + width]! << 8) + (pixels[p + width + 1]! - pixels[p + width]!) * wx;
    const value = ((upper << 8) + (lower - upper) * wy + 32768) >> 16;
    target[at] = fade === 0 ? value : (value * strength + target[at]! * fade + 128) >> 8;
    fx = (fx + stepX) | 0;
    fy = (fy + stepY) | 0;
  }
}

function drawBlended(
  target: Uint8Array,
  source: SourcePlane,
  alpha: Uint8Array,
  start: number,
  count: number,
  startX: number,
  startY: number,
  stepX: number,
  stepY: number,
  strength: number,
): void {
  const { pixels, width } = source;
  let fx = startX | 0;
  let fy = startY | 0;
  for (let at = start, end = start + count; at < end; at++) {
    const p = (fy >> 16) * width + (fx >> 16);
    const a = alpha[p]!;
    const b = alpha[p + 1]!;
    const c = alpha[p + width]!;
    const d = alpha[p + width + 1]!;
    if ((a | b | c | d) !== 0) {
      const wx = (fx >> 8) & 255;
      const wy = (fy >> 8) & 255;
      const upper = (pixels[p]! << 8) + (pixels[p + 1]! - pixels[p]!) * wx;
      const lower = (pixels[p + width]! << 8) + (pixels[p + width + 1]! - pixels[p + width]!) * wx;
      const value = ((upper << 8) + (lower - upper) * wy + 32768) >> 16;
      if ((a & b & c & d) === 255 && strength === 256) {
        target[at] = value;
      } else {
        const above = (a << 8) + (b - a) * wx;
        const below = (c << 8) + (d - c) * wx;
        const cover = ((above << 8) + (below - above) * wy + 32768) >> 16;
        const kept = 255 - ((cover * strength + 128) >> 8);
        const rest = target[at]! * kept + 128;
        target[at] = ((value * strength + 128) >> 8) + ((rest + (rest >> 8)) >> 8);
      }
    }
    fx = (fx + stepX) | 0;
    fy = (fy + stepY) | 0;
  }
}

/** The few samples at the edge, from the nearest sample; what is opaque also goes on beyond it. */
function drawEdge(
  target: TargetPlane,
  source: SourcePlane,
  start: number,
  startX: number,
  startY: number,
  stepX: number,
  stepY: number,
  from: number,
  to: number,
  strength: number,
): void {
  const { width, height, pixels, alpha } = source;
  for (let step = from; step < to; step++) {
    const x = Math.round((startX + stepX * step) / ONE);
    const y = Math.round((startY + stepY * step) / ONE);
    if (alpha !== undefined && (x < 0 || y < 0 || x >= width || y >= height)) continue;
    const p = Math.min(height - 1, Math.max(0, y)) * width + Math.min(width - 1, Math.max(0, x));
    const kept = 255 - (((alpha?.[p] ?? 255) * strength) >> 8);
    target.pixels[start + step] =
      ((pixels[p]! * strength) >> 8) + (target.pixels[start + step]! * kept + 127) / 255;
  }
}

// biome-ignore-end lint/style/noNonNullAssertion: see above
