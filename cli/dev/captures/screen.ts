import { type IBufferCell, Terminal } from "@xterm/headless";
import { colourOf, INK, PAPER } from "./palette.ts";

/** One place of a screen. */
export interface Cell {
  /** Empty for the second half of a wide character. */
  readonly text: string;
  /** 1, or 2 for a wide character. */
  readonly width: number;
  /** `#rrggbb`; undefined for the terminal's own. */
  readonly ink?: string | undefined;
  readonly paper?: string | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isUnderlined: boolean;
}

export type Line = readonly Cell[];

/** A terminal without a window. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string | Uint8Array): Promise<void>;
  /** Whether the cursor is at the start of a line. */
  isAtLineStart(): boolean;
  /** What is to be seen, without empty lines at the end. A line that was too long for the screen is one line. */
  lines(): Line[];
}

/** More lines than any capture has. */
const SCROLLBACK = 1_000;

export function createScreen(columns: number, rows: number): Screen {
  const terminal = new Terminal({ cols: columns, rows, scrollback: SCROLLBACK, allowProposedApi: true });
  return {
    columns,
    rows,
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    isAtLineStart: () => terminal.buffer.active.cursorX === 0,
    lines() {
      const buffer = terminal.buffer.active;
      const lines: Line[] = [];
      for (let y = 0; y < buffer.length; y++) {
        const row = buffer.getLine(y);
        const cells = Array.from({ length: columns }, (_, x) => row?.getCell(x)).flatMap((cell) =>
          cell === undefined ? [] : [cellOf(cell)],
        );
        if (row?.isWrapped === true) lines.push([...(lines.pop() ?? []), ...cells]);
        else lines.push(cells);
      }
      return lines.slice(0, lines.findLastIndex((line) => textOf(line) !== "") + 1);
    },
  };
}

/** Cuts lines as a screen of this width shows them. */
export function wrapLines(lines: readonly Line[], columns: number): Line[] {
  return lines.flatMap((line) => {
    const used = Math.max(1, line.findLastIndex(({ text }) => text.trim() !== "") + 1);
    return Array.from({ length: Math.ceil(used / columns) }, (_, i) =>
      line.slice(i * columns, (i + 1) * columns),
    );
  });
}

function cellOf(cell: IBufferCell): Cell {
  const front = colourOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor());
  const back = colourOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor());
  const isInverse = cell.isInverse() !== 0;
  return {
    text: cell.getChars() || (cell.getWidth() === 0 ? "" : " "),
    width: cell.getWidth(),
    ink: isInverse ? (back ?? PAPER) : front,
    paper: isInverse ? (front ?? INK) : back,
    isBold: cell.isBold() !== 0,
    isDim: cell.isDim() !== 0,
    isUnderlined: cell.isUnderline() !== 0,
  };
}

/** The characters of a line, without spaces at its end. */
export function textOf(line: Line): string {
  return line
    .map(({ text }) => text)
    .join("")
    .trimEnd();
}
