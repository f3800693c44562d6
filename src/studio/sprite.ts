import { createPlane } from "./arena.ts";
import { type Area, drawPlane, type Matrix } from "./plane.ts";

/** One video picture in planar 4:2:0; the chroma planes are half as wide and half as high. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  /** All three planes in one buffer, as the encoder takes them. */
  readonly bytes: Uint8Array;
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
}

/** A picture that can be drawn onto a frame: its planes are multiplied by its alpha. */
export interface Sprite extends Frame {
  /** Absent when every pixel is opaque. */
  readonly alpha?: Uint8Array;
  /** Alpha at the size of the chroma planes. */
  readonly chromaAlpha?: Uint8Array;
  /** The part that is not empty, in its own pixels. */
  readonly bounds: Area;
}

/** @param width even @param height even */
export function createFrame(width: number, height: number, bytes?: Uint8Array): Frame {
  const luma = width * height;
  const chroma = luma / 4;
  const buffer = bytes ?? createPlane(luma + chroma * 2);
  return {
    width,
    height,
    bytes: buffer,
    y: buffer.subarray(0, luma),
    u: buffer.subarray(luma, luma + chroma),
    v: buffer.subarray(luma + chroma, luma + chroma * 2),
  };
}

/** Wraps a frame as an opaque sprite. Shares its planes instead of copying them. */
export function frameSprite(frame: Frame): Sprite {
  return { ...frame, bounds: { left: 0, top: 0, right: frame.width, bottom: frame.height } };
}

/** What a pixel adds to the planes, multiplied by its alpha: red, green and blue; its luma; its alpha. */
interface Part {
  word: number;
  red: number;
  green: number;
  blue: number;
  luma: number;
  cover: number;
}

const OPAQUE = 0xff000000;

const nothing = (): Part => ({ word: 0, red: 0, green: 0, blue: 0, luma: 0, cover: 0 });

/** Converts straight RGBA (BT.709, limited range, even sides) once, so that no frame of a video touches RGB. */
export function spriteFromRgba(rgba: Uint8Array, width: number, height: number): Sprite {
  const frame = createFrame(width, height);
  const alpha = createPlane(width * height);
  const chromaAlpha = createPlane((width * height) / 4);
  const bounds = { left: width, top: height, right: 0, bottom: 0 };
  const { y, u, v } = frame;
  const words = wordsOf(rgba);
  // Most pixels are like the one before.
  const [first, second, third, fourth] = [nothing(), nothing(), nothing(), nothing()];
  const read = (part: Part, at: number): void => {
    // Every word is inside the picture, whose sides are even.
    const word = words[at] as number;
    if (word !== part.word) measure(part, word);
    if (part.cover === 0) return;
    alpha[at] = part.cover;
    y[at] = part.luma;
  };
  let every = OPAQUE;
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      const [upper, lower] = [row * width + column, (row + 1) * width + column];
      read(first, upper);
      read(second, upper + 1);
      read(third, lower);
      read(fourth, lower + 1);
      every &= first.word & second.word & third.word & fourth.word;
      const cover = first.cover + second.cover + third.cover + fourth.cover;
      if (cover === 0) continue;
      const red = first.red + second.red + third.red + fourth.red;
      const green = first.green + second.green + third.green + fourth.green;
      const blue = first.blue + second.blue + third.blue + fourth.blue;
      const half = (row >> 1) * (width >> 1) + (column >> 1);
      const centre = (128 * cover) / 255;
      u[half] = (-0.1006 * red - 0.3386 * green + 0.4392 * blue + centre) / 4 + 0.5;
      v[half] = (0.4392 * red - 0.3989 * green - 0.0403 * blue + centre) / 4 + 0.5;
      chromaAlpha[half] = cover / 4 + 0.5;
      if (column < bounds.left) bounds.left = column;
      if (row < bounds.top) bounds.top = row;
      if (column + 2 > bounds.right) bounds.right = column + 2;
      if (row + 2 > bounds.bottom) bounds.bottom = row + 2;
    }
  }
  return every >>> 24 === 255 ? frameSprite(frame) : { ...frame, alpha, chromaAlpha, bounds };
}

/** @param word red, green, blue and alpha, the first lowest */
function measure(part: Part, word: number): void {
  const cover = word >>> 24;
  const red = ((word & 255) * cover) / 255;
  const green = (((word >> 8) & 255) * cover) / 255;
  const blue = (((word >> 16) & 255) * cover) / 255;
  part.word = word;
  part.red = red;
  part.green = green;
  part.blue = blue;
  part.luma = 0.1826 * red + 0.6142 * green + 0.062 * blue + (16 * cover) / 255 + 0.5;
  part.cover = cover;
}

/** The pixels as numbers of 32 bits, of which the first byte is the lowest on every platform there is. */
function wordsOf(rgba: Uint8Array): Uint32Array {
  const aligned = rgba.byteOffset % 4 === 0 ? rgba : rgba.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}

/** Draws `sprite` onto `frame`, bilinearly filtered. An opaque sprite is continued past its edges. @param opacity 0 … 1 */
export function drawSprite(frame: Frame, sprite: Sprite, matrix: Matrix, opacity = 1): void {
  const strength = Math.round(Math.min(1, Math.max(0, opacity)) * 256);
  const determinant = matrix.a * matrix.d - matrix.b * matrix.c;
  if (strength === 0 || Math.abs(determinant) < 1e-9) return;
  const area = coveredArea(frame, sprite, matrix);
  if (area.left >= area.right || area.top >= area.bottom) return;
  const back = invert(matrix, determinant);
  const { width, height } = sprite;
  const whole = { pixels: sprite.y, alpha: sprite.alpha, width, height };
  drawPlane({ pixels: frame.y, width: frame.width }, whole, centred(back, 1), area, strength);
  const half = {
    left: area.left >> 1,
    top: area.top >> 1,
    right: (area.right + 1) >> 1,
    bottom: (area.bottom + 1) >> 1,
  };
  const chroma = centred(back, 2);
  const quarter = { alpha: sprite.chromaAlpha, width: width >> 1, height: height >> 1 };
  for (const plane of ["u", "v"] as const) {
    const source = { ...quarter, pixels: sprite[plane] };
    drawPlane({ pixels: frame[plane], width: frame.width >> 1 }, source, chroma, half, strength);
  }
}

function coveredArea(frame: Frame, sprite: Sprite, m: Matrix): Area {
  const { left, top, right, bottom } = sprite.bounds;
  const corners = [left, right].flatMap((x) => [top, bottom].map((y) => ({ x, y })));
  const xs = corners.map(({ x, y }) => m.a * x + m.b * y + m.e);
  const ys = corners.map(({ x, y }) => m.c * x + m.d * y + m.f);
  return {
    left: Math.max(0, Math.floor(Math.min(...xs)) & ~1),
    top: Math.max(0, Math.floor(Math.min(...ys)) & ~1),
    right: Math.min(frame.width, Math.ceil(Math.max(...xs)) + 1),
    bottom: Math.min(frame.height, Math.ceil(Math.max(...ys)) + 1),
  };
}

function invert(m: Matrix, determinant: number): Matrix {
  const a = m.d / determinant;
  const b = -m.b / determinant;
  const c = -m.c / determinant;
  const d = m.a / determinant;
  return { a, b, c, d, e: -(a * m.e + b * m.f), f: -(c * m.e + d * m.f) };
}

/** The same matrix between pixel indices, whose centres lie half a pixel in, on planes `divisor` times smaller. */
function centred(m: Matrix, divisor: number): Matrix {
  return { ...m, e: m.e / divisor + (m.a + m.b - 1) / 2, f: m.f / divisor + (m.c + m.d - 1) / 2 };
}
