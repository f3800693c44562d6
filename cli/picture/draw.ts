import { cutText } from "../format/fit.ts";
import { printable } from "../format/printable.ts";
import type { Protocol } from "./detect.ts";
import { fitPixels, type Grid, GUTTER, HALVED_CELL, layOut, roomFor, type ScreenSize } from "./fit.ts";
import { type Depth, halfBlocks } from "./half-blocks.ts";
import { itermPicture } from "./iterm.ts";
import { kittyPicture, kittyPictureInTmux } from "./kitty.ts";
import {
  emptyPixels,
  encodePng,
  type Pixels,
  paste,
  reduceColours,
  type Size,
  scalePicture,
} from "./pixels.ts";
import { SIXEL_COLOURS, sixelPicture } from "./sixel.ts";

/** A terminal that pictures are drawn on. */
export interface Canvas {
  readonly protocol: Protocol;
  readonly depth: Depth;
  readonly screen: ScreenSize;
  /** Whether tmux is between, so that kitty's pictures must be sent past it. */
  readonly isInTmux?: boolean;
  /** Pixels of a cell. */
  readonly cell: Size;
}

/** A picture and what is written below it. */
export interface Exhibit {
  readonly pixels: Pixels;
  readonly label?: string | undefined;
}

/** The first two scale pictures themselves: more pixels than a cell has are sharper on a screen of high density. */
const DENSITY = { kitty: 2, iterm: 2, sixel: 1 } as const;

/** Draws pictures: one without a label by itself, others as a sheet. @returns lines for the terminal */
export async function drawPictures(exhibits: readonly Exhibit[], canvas: Canvas): Promise<string> {
  const room = roomFor(exhibits.length, canvas.screen);
  const [first] = exhibits;
  if (first === undefined) return "";
  if (exhibits.length === 1 && first.label === undefined) {
    const picture = await scaled(first, { across: 1, box: room }, canvas);
    return await paint(picture, canvas);
  }
  const grid = layOut(exhibits.length, room, largest(exhibits), cellOf(canvas));
  let text = "";
  for (let at = 0; at < exhibits.length; at += grid.across)
    text += await drawRow(exhibits.slice(at, at + grid.across), grid, canvas);
  return text;
}

async function drawRow(exhibits: readonly Exhibit[], grid: Grid, canvas: Canvas): Promise<string> {
  const pictures: Pixels[] = [];
  for (const exhibit of exhibits) pictures.push(await scaled(exhibit, grid, canvas));
  const pitch = (grid.box.columns + GUTTER) * cellOf(canvas).width;
  const last = pictures.at(-1);
  const strip = emptyPixels(
    (pictures.length - 1) * pitch + (last?.width ?? 1),
    Math.max(...pictures.map(({ height }) => height)),
  );
  for (const [i, picture] of pictures.entries()) paste(strip, picture, i * pitch, 0);
  return `${await paint(strip, canvas)}${labels(exhibits, grid)}\n`;
}

function labels(exhibits: readonly Exhibit[], { box }: Grid): string {
  const cells = exhibits.map(({ label }) => cutText(printable(label ?? ""), box.columns, "middle"));
  const width = box.columns + GUTTER;
  return cells
    .map((cell) => cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell))))
    .join("")
    .trimEnd();
}

function scaled({ pixels }: Exhibit, { box }: Grid, canvas: Canvas): Promise<Pixels> {
  return scalePicture(pixels, (size) => fitPixels(size, box, cellOf(canvas)));
}

/** The pixels drawn in one cell. */
function cellOf({ protocol, cell: { width, height } }: Canvas): Size {
  if (protocol === "half") return HALVED_CELL;
  return { width: width * DENSITY[protocol], height: height * DENSITY[protocol] };
}

/** The text that makes a terminal show these pixels, from the start of a line to the start of the next. */
async function paint(pixels: Pixels, canvas: Canvas): Promise<string> {
  const { protocol, depth } = canvas;
  const cell = cellOf(canvas);
  const columns = Math.max(1, Math.round(pixels.width / cell.width));
  switch (protocol) {
    case "half":
      return halfBlocks(pixels, depth)
        .map((line) => `${line}\n`)
        .join("");
    case "sixel":
      return `${sixelPicture(await reduceColours(pixels, SIXEL_COLOURS))}\n`;
    case "kitty": {
      const png = await encodePng(pixels);
      if (canvas.isInTmux !== true) return `${kittyPicture(png, columns)}\n`;
      const rows = Math.max(1, Math.round(pixels.height / cell.height));
      return `${kittyPictureInTmux(png, { columns, rows }, anyNumber())}\n`;
    }
    case "iterm":
      return `${itermPicture(await encodePng(pixels), columns)}\n`;
  }
}

/** Of a picture, such that it seldom takes the place of one that is still to be seen. */
const anyNumber = (): number => 1 + Math.floor(Math.random() * 255);

function largest(exhibits: readonly Exhibit[]): Size {
  return {
    width: Math.max(...exhibits.map(({ pixels }) => pixels.width)),
    height: Math.max(...exhibits.map(({ pixels }) => pixels.height)),
  };
}
