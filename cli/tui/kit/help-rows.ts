import { fitCells, wrapCells } from "./cells.ts";

/** A key, or a word on the screen, and what it does or means. Both are empty for a space between parts. */
export type HelpEntry = readonly [key: string, about: string];

/** More lines than any screen's help has. */
const MOST_LINES = 99;

/** The lines of a help screen, each as wide as the screen: what is long goes on below, and the spaces go where lines are short. */
export function helpRows(
  entries: readonly HelpEntry[],
  size: { readonly width: number; readonly height: number },
): HelpEntry[] {
  const keyWidth = Math.max(...entries.map(([key]) => Bun.stringWidth(key))) + 1;
  const room = Math.max(1, size.width - keyWidth);
  const rows = entries.flatMap(([key, about]) =>
    wrapCells(about, room, MOST_LINES).map(
      (line, i): HelpEntry => [fitCells(i === 0 ? key : "", keyWidth), fitCells(line, size.width - keyWidth)],
    ),
  );
  const isSpace = (row: HelpEntry) => row.join("").trim() === "";
  const kept = rows.length > size.height ? rows.filter((row) => !isSpace(row)) : rows;
  return kept.slice(0, size.height);
}
