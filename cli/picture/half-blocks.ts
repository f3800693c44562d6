import { type Cells, fitPixels, HALVED_CELL } from "./fit.ts";
import { type Pixels, scalePicture } from "./pixels.ts";

/** How many colours a terminal has. */
export type Depth = "true-colour" | "256";

/** Of one half of a cell: numbers as in SGR 38 and 48, or undefined where the terminal's own colour shows. */
type Colour = string | undefined;

const RESET = "\u001b[0m";
/** A less opaque pixel shows the terminal's background. */
const OPAQUE = 128;

/**
 * Draws a picture with characters, two pixels in each cell: works wherever there are colours. The cells are taken as twice as high
 * as wide.
 *
 * @param file of a picture
 * @param box what it may fill; the picture keeps its proportions
 * @returns one text a line, which ends in the terminal's own colours
 * @throws Error when it cannot be decoded
 */
export async function drawHalfBlocks(file: Uint8Array, box: Cells, depth: Depth): Promise<string[]> {
  return halfBlocks(await scalePicture(file, (size) => fitPixels(size, box, HALVED_CELL)), depth);
}

/** Draws pixels, two in each cell. @returns one text a line */
export function halfBlocks(pixels: Pixels, depth: Depth): string[] {
  const lines: string[] = [];
  for (let row = 0; row < pixels.height; row += 2) {
    let line = "";
    let [foreground, background]: Colour[] = [];
    for (let column = 0; column < pixels.width; column++) {
      const top = colourAt(pixels, column, row, depth);
      const bottom = colourAt(pixels, column, row + 1, depth);
      const ink = top ?? bottom;
      const paper = top === undefined ? undefined : bottom;
      if (ink !== undefined && ink !== foreground) line += sgr(`38;${ink}`);
      if (paper !== background) line += sgr(paper === undefined ? "49" : `48;${paper}`);
      foreground = ink ?? foreground;
      background = paper;
      line += characterFor(top, bottom);
    }
    lines.push(`${line}${RESET}`);
  }
  return lines;
}

function characterFor(top: Colour, bottom: Colour): string {
  if (top !== undefined) return "▀";
  return bottom === undefined ? " " : "▄";
}

function colourAt({ width, height, rgba }: Pixels, column: number, row: number, depth: Depth): Colour {
  if (row >= height) return undefined;
  const at = (row * width + column) * 4;
  const [red = 0, green = 0, blue = 0, alpha = 0] = rgba.subarray(at, at + 4);
  if (alpha < OPAQUE) return undefined;
  return depth === "true-colour" ? `2;${red};${green};${blue}` : `5;${nearest256(red, green, blue)}`;
}

const sgr = (parameters: string): string => `\u001b[${parameters}m`;

/** Brightness of the steps of the colour cube, which are colours 16 to 231. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** The nearest of the 256 colours, without the first 16, which themes change. */
export function nearest256(red: number, green: number, blue: number): number {
  const steps = [red, green, blue].map(nearestStep);
  const [r = 0, g = 0, b = 0] = steps.map((step) => CUBE[step] ?? 0);
  const grey = Math.max(0, Math.min(23, Math.round(((red + green + blue) / 3 - 8) / 10)));
  const level = 8 + 10 * grey;
  const isGreyNearer =
    distance([red, green, blue], [level, level, level]) < distance([red, green, blue], [r, g, b]);
  const [x = 0, y = 0, z = 0] = steps;
  return isGreyNearer ? 232 + grey : 16 + 36 * x + 6 * y + z;
}

function nearestStep(value: number): number {
  let best = 0;
  for (const [step, level] of CUBE.entries())
    if (Math.abs(level - value) < Math.abs((CUBE[best] ?? 0) - value)) best = step;
  return best;
}

function distance(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + (value - (b[i] ?? 0)) ** 2, 0);
}
