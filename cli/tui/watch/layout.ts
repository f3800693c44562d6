import type { Size } from "../kit/terminal.ts";

/** A screen at least this wide shows a task beside the table; on others it takes the table's place. */
const WIDE = 120;
const MAX_PANE_WIDTH = 90;
/** Lines above the rows: title, tabs, pace, headings. Below them: the footer. */
const [ABOVE, BELOW] = [4, 1];

/** Where things are on a screen of some size. */
export interface Layout {
  readonly size: Size;
  /** Rows of the table. */
  readonly height: number;
  /** Cells of the table in a line; 0 while a task takes its place. */
  readonly listWidth: number;
  /** Cells of the detail pane; 0 while it is closed. */
  readonly paneWidth: number;
  /** Lines of the detail pane. */
  readonly paneHeight: number;
}

export const PANE_GAP = 3;

export function layoutOf(size: Size, isDetail: boolean): Layout {
  const { columns, rows } = size;
  const height = Math.max(1, rows - ABOVE - BELOW);
  const paneHeight = height + 1;
  if (!isDetail) return { size, height, listWidth: columns, paneWidth: 0, paneHeight };
  if (columns < WIDE) return { size, height, listWidth: 0, paneWidth: columns, paneHeight };
  const paneWidth = Math.min(MAX_PANE_WIDTH, Math.floor(columns / 2));
  return { size, height, listWidth: columns - paneWidth - PANE_GAP, paneWidth, paneHeight };
}

/** The most that a picture takes of the pane. */
export function pictureRoom({ paneWidth, paneHeight }: Layout): { columns: number; rows: number } {
  return { columns: Math.max(1, Math.min(60, paneWidth)), rows: Math.max(1, Math.floor(paneHeight / 2)) };
}
