import { freeMemory, type Pixels } from "./inputs.ts";
import { type Palette, shade } from "./palette.ts";
import { createNoise, type Random } from "./random.ts";

interface Look {
  readonly palette: Palette;
  readonly random: Random;
  /** Palette colours for each luma, 256 × 3 bytes. */
  readonly ramp: Uint8Array;
}

type Style = (pixels: Pixels, look: Look) => Uint8Array;

const STYLES = [toneMap, poster, halftone, brush] as const satisfies readonly [Style, ...Style[]];

/** Redraws pixels in one of several styles; the choice and its details follow `random`. Alpha is kept. */
export async function restyle(pixels: Pixels, palette: Palette, random: Random): Promise<Pixels> {
  const style = random.pick(STYLES);
  const soft = style === poster || style === brush ? await soften(pixels) : pixels;
  await freeMemory(soft);
  const rgba = style(soft, { palette, random, ramp: paletteRamp(palette) });
  for (let i = 3; i < rgba.length; i += 4) rgba[i] = pixels.rgba[i] ?? 255;
  return { ...pixels, rgba };
}

/** The palette as a table from luma to colour, 256 × 3 bytes. */
function paletteRamp(palette: Palette): Uint8Array {
  const ramp = new Uint8Array(768);
  for (let i = 0; i < 256; i++) ramp.set(shade(palette, 0.03 + 0.97 * (i / 255)), i * 3);
  return ramp;
}

async function soften(pixels: Pixels): Promise<Pixels> {
  const { width, height } = pixels;
  if (Math.min(width, height) < 8) return pixels;
  const { default: sharp } = await import("sharp");
  const image = sharp(pixels.rgba, { raw: { width, height, channels: 4 } });
  const rgba = await image
    .median(Math.min(width, height) > 500 ? 5 : 3)
    .raw()
    .toBuffer();
  return { ...pixels, rgba };
}

/** Light and dark become a ramp of the palette; a little of the original colour shines through. */
function toneMap(pixels: Pixels, { ramp, random }: Look): Uint8Array {
  const luma = lumaOf(pixels);
  const out = new Uint8Array(pixels.rgba.length);
  const kept = random.range(0.08, 0.28);
  const table = contrast(luma);
  for (let i = 0; i < luma.length; i++) {
    const tone = (table[luma[i] ?? 0] ?? 0) * 3;
    for (let k = 0; k < 3; k++) {
      out[i * 4 + k] = (ramp[tone + k] ?? 0) * (1 - kept) + (pixels.rgba[i * 4 + k] ?? 0) * kept;
    }
  }
  return out;
}

/** A few flat tones with dark outlines, as in a screen print. */
function poster(pixels: Pixels, { ramp, random, palette }: Look): Uint8Array {
  const { width, height } = pixels;
  const luma = lumaOf(pixels);
  const out = new Uint8Array(pixels.rgba.length);
  const levels = random.int(4, 6);
  const table = contrast(luma);
  const accentLevel = random.int(1, levels - 2);
  const reach = Math.max(1, Math.round(Math.min(width, height) / 700));
  const [ink] = palette.shades;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const i = y * width + x;
      const level = Math.min(levels - 1, Math.floor(((table[luma[i] ?? 0] ?? 0) / 256) * levels));
      const right = luma[y * width + Math.min(width - 1, x + reach)] ?? 0;
      const left = luma[y * width + Math.max(0, x - reach)] ?? 0;
      const below = luma[Math.min(height - 1, y + reach) * width + x] ?? 0;
      const above = luma[Math.max(0, y - reach) * width + x] ?? 0;
      const line = Math.min(1, Math.max(0, (Math.abs(right - left) + Math.abs(below - above) - 26) / 40));
      const tone = Math.round((level / (levels - 1)) * 255) * 3;
      for (let k = 0; k < 3; k++) {
        const flat =
          level === accentLevel
            ? ((ramp[tone + k] ?? 0) + (palette.accent[k] ?? 0) * 2) / 3
            : (ramp[tone + k] ?? 0);
        out[i * 4 + k] = flat * (1 - line) + (ink[k] ?? 0) * line;
      }
    }
  }
  return out;
}

/** Dots of dark ink on light paper, turned, with a second ink in the middle tones. */
function halftone(pixels: Pixels, { palette, random }: Look): Uint8Array {
  const { width, height } = pixels;
  const luma = lumaOf(pixels);
  const table = contrast(luma);
  const out = new Uint8Array(pixels.rgba.length);
  const pitch = Math.max(4, Math.min(width, height) / 95);
  const paper = shade(palette, 0.97);
  const inks = [
    { colour: palette.accent, angle: random.range(0.2, 0.5), from: 0.84, gain: 0.86 },
    { colour: shade(palette, 0.08), angle: random.range(0.9, 1.3), from: 0.7, gain: 1.2 },
  ].map((ink) => ({ ...ink, cos: Math.cos(ink.angle) / pitch, sin: Math.sin(ink.angle) / pitch }));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const i = y * width + x;
      const tone = (table[luma[i] ?? 0] ?? 0) / 255;
      // No array for each pixel: sixteen million would fill the memory before they are collected.
      let red = paper[0];
      let green = paper[1];
      let blue = paper[2];
      for (const ink of inks) {
        const u = x * ink.cos + y * ink.sin;
        const v = y * ink.cos - x * ink.sin;
        const away = Math.hypot(u - Math.floor(u) - 0.5, v - Math.floor(v) - 0.5);
        const radius = Math.sqrt(Math.max(0, ink.from - tone)) * 0.72 * ink.gain;
        const cover = Math.min(1, Math.max(0, (radius - away) * pitch * 0.7 + 0.5)) * (radius > 0 ? 1 : 0);
        red += (ink.colour[0] - red) * cover;
        green += (ink.colour[1] - green) * cover;
        blue += (ink.colour[2] - blue) * cover;
      }
      out[i * 4] = red;
      out[i * 4 + 1] = green;
      out[i * 4 + 2] = blue;
    }
  }
  return out;
}

/** Strokes along a field of noise, in livelier colours that lean towards the palette. */
function brush(pixels: Pixels, { ramp, random }: Look): Uint8Array {
  const { width, height, rgba } = pixels;
  const out = new Uint8Array(rgba.length);
  const noise = createNoise(random, 1);
  const bristle = createNoise(random, 1);
  const scale = Math.min(width, height) / 5;
  const length = Math.max(1, Math.min(width, height) / 130);
  const lean = random.range(0.42, 0.6);
  const cell = 8;
  const columns = Math.ceil(width / cell);
  const field = new Float32Array(columns * Math.ceil(height / cell));
  for (let i = 0; i < field.length; i++) {
    field[i] = noise(((i % columns) * cell) / scale, (Math.floor(i / columns) * cell) / scale) * Math.PI * 2;
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const angle = field[Math.floor(y / cell) * columns + Math.floor(x / cell)] ?? 0;
      const cos = Math.cos(angle);
      const sin = Math.sin(angle);
      const grain = bristle((x * -sin + y * cos) / 2.4, (x * cos + y * sin) / (length * 5));
      const offset = grain * length * 1.3;
      const sx = Math.min(width - 1, Math.max(0, Math.round(x + cos * offset)));
      const sy = Math.min(height - 1, Math.max(0, Math.round(y + sin * offset)));
      const from = (sy * width + sx) * 4;
      const tone =
        0.2126 * (rgba[from] ?? 0) + 0.7152 * (rgba[from + 1] ?? 0) + 0.0722 * (rgba[from + 2] ?? 0);
      const light = 1 + grain * 0.09;
      const at = (y * width + x) * 4;
      const entry = Math.round(tone) * 3;
      for (let k = 0; k < 3; k++) {
        const vivid = tone + ((rgba[from + k] ?? 0) - tone) * 1.5;
        out[at + k] = clampByte((vivid * (1 - lean) + (ramp[entry + k] ?? 0) * lean) * light);
      }
    }
  }
  return out;
}

function lumaOf({ rgba }: Pixels): Uint8Array {
  const luma = new Uint8Array(rgba.length / 4);
  for (let i = 0; i < luma.length; i++) {
    luma[i] = 0.2126 * (rgba[i * 4] ?? 0) + 0.7152 * (rgba[i * 4 + 1] ?? 0) + 0.0722 * (rgba[i * 4 + 2] ?? 0);
  }
  return luma;
}

/** A table that stretches the tones in use over the whole range, by at most three times. */
function contrast(luma: Uint8Array): Uint8Array {
  const counts = new Uint32Array(256);
  for (const value of luma) counts[value] = (counts[value] ?? 0) + 1;
  const edge = luma.length * 0.01;
  let [low, high, sum] = [0, 255, 0];
  while (low < 254 && sum + (counts[low] ?? 0) <= edge) sum += counts[low++] ?? 0;
  sum = 0;
  while (high > low + 1 && sum + (counts[high] ?? 0) <= edge) sum += counts[high--] ?? 0;
  const gain = Math.min(3, 255 / (high - low));
  const middle = (low + high) / 2;
  return Uint8Array.from(counts, (_, value) => clampByte(128 + (value - middle) * gain));
}

function clampByte(value: number): number {
  return Math.min(255, Math.max(0, value));
}
