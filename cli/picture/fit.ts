import type { Size } from "./pixels.ts";

/** A part of a terminal's screen, in cells. */
export interface Cells {
  readonly columns: number;
  readonly rows: number;
}

/** Pixels of one cell, where the terminal does not tell. */
export const USUAL_CELL: Size = { width: 10, height: 20 };
/** A cell that is drawn as two half blocks. */
export const HALVED_CELL: Size = { width: 1, height: 2 };

/** Most cells that are drawn, because terminals may report a wrong size. */
const WIDEST = 200;
const HIGHEST = 60;
/** The rest stays for what was printed before. */
const SHARE_OF_ONE = 1 / 2;
const SHARE_OF_SEVERAL = 3 / 4;

export interface ScreenSize {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** The room for pictures below a command. */
export function roomFor(count: number, { columns, rows }: ScreenSize): Cells {
  const share = count > 1 ? SHARE_OF_SEVERAL : SHARE_OF_ONE;
  // A terminal that does not know its size may say 0.
  return { columns: clamp((columns || 80) - 1, WIDEST), rows: clamp((rows || 24) * share, HIGHEST) };
}

/** The pixels of a picture within a box: it keeps its proportions, and is not enlarged. */
export function fitPixels({ width, height }: Size, { columns, rows }: Cells, cell: Size): Size {
  const scale = Math.min(1, (columns * cell.width) / width, (rows * cell.height) / height);
  return {
    width: clamp(Math.round(width * scale), columns * cell.width),
    height: clamp(Math.round(height * scale), rows * cell.height),
  };
}

/** A grid of boxes. */
export interface Grid {
  /** How many boxes are beside each other. */
  readonly across: number;
  readonly box: Cells;
}

/** Columns between boxes. */
export const GUTTER = 2;

/** Arranges boxes, each with one line of text below it, so that pictures of this size become as large as possible. */
export function layOut(count: number, room: Cells, size: Size, cell: Size): Grid {
  let best: Grid | undefined;
  let bestArea = 0;
  for (let across = 1; across <= count; across++) {
    const columns = Math.floor((room.columns - GUTTER * (across - 1)) / across);
    const rows = Math.max(1, Math.floor(room.rows / Math.ceil(count / across)) - 1);
    if (columns < 1) break;
    const { width, height } = fitPixels(size, { columns, rows }, cell);
    if (best !== undefined && width * height <= bestArea) continue;
    best = { across, box: { columns, rows } };
    bestArea = width * height;
  }
  return best ?? { across: 1, box: { columns: 1, rows: 1 } };
}

function clamp(value: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(value)));
}
