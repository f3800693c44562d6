import type { Pixels } from "./pixels.ts";

/** Colours that every terminal with sixels has registers for. */
export const SIXEL_COLOURS = 255;
/** Pixels below each other that one character stands for. */
const BAND = 6;
const FIRST_CHARACTER = 63;
const OPAQUE = 128;
/** A run is shorter than its pixels from here on. */
const WORTH_A_RUN = 4;

/**
 * A picture as sixels (DEC STD 070, chapter 9). Pixels that are more transparent than not stay as they were.
 *
 * @param pixels in at most SIXEL_COLOURS colours
 */
export function sixelPicture(pixels: Pixels): string {
  const { width, height } = pixels;
  const { colours, indexes } = indexColours(pixels);
  const registers = colours.map((rgb, i) => `#${i};2;${rgb.map(toPercent).join(";")}`);
  const bands: string[] = [];
  for (let top = 0; top < height; top += BAND) bands.push(band(indexes, pixels, top, colours.length));
  // P2=1: what no sixel covers keeps its background. `"1;1` says that pixels are square.
  return `\u001bP0;1;0q"1;1;${width};${height}${registers.join("")}${bands.join("-")}\u001b\\`;
}

type Rgb = readonly [number, number, number];

const TRANSPARENT = -1;

function indexColours({ rgba, width, height }: Pixels): { colours: Rgb[]; indexes: Int32Array } {
  const known = new Map<number, number>();
  const colours: Rgb[] = [];
  const indexes = new Int32Array(width * height).fill(TRANSPARENT);
  for (let i = 0; i < indexes.length; i++) {
    if ((rgba[i * 4 + 3] ?? 0) < OPAQUE) continue;
    const key = ((rgba[i * 4] ?? 0) << 16) | ((rgba[i * 4 + 1] ?? 0) << 8) | (rgba[i * 4 + 2] ?? 0);
    let index = known.get(key);
    if (index === undefined) {
      index = colours.push([key >> 16, (key >> 8) & 255, key & 255]) - 1;
      known.set(key, index);
    }
    indexes[i] = index;
  }
  return { colours, indexes };
}

const toPercent = (value: number): number => Math.round((value * 100) / 255);

/** Six rows: each of their colours once over the whole width, one on top of the other. */
function band(indexes: Int32Array, { width, height }: Pixels, top: number, colourCount: number): string {
  const masks: (Uint8Array | undefined)[] = new Array(colourCount);
  for (let row = 0; row < Math.min(BAND, height - top); row++) {
    for (let column = 0; column < width; column++) {
      const index = indexes[(top + row) * width + column] ?? TRANSPARENT;
      if (index === TRANSPARENT) continue;
      masks[index] ??= new Uint8Array(width);
      const mask = masks[index];
      mask[column] = (mask[column] ?? 0) | (1 << row);
    }
  }
  const lines = masks.flatMap((mask, index) => (mask === undefined ? [] : [`#${index}${runs(mask)}`]));
  return lines.join("$");
}

/** `!12~` for twelve times `~`. Nothing at the end where nothing is set. */
function runs(mask: Uint8Array): string {
  let text = "";
  for (let at = 0; at < mask.length; ) {
    const value = mask[at] ?? 0;
    let end = at + 1;
    while (end < mask.length && mask[end] === value) end++;
    const character = String.fromCharCode(FIRST_CHARACTER + value);
    if (value === 0 && end === mask.length) break;
    text += end - at < WORTH_A_RUN ? character.repeat(end - at) : `!${end - at}${character}`;
    at = end;
  }
  return text;
}
