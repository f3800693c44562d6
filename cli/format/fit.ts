/** What a table may do to a column if there is too little width. */
export interface Fitting {
  /** Where its cells are cut; absent: they are not, as numbers would say something else. */
  readonly cut?: "middle" | "end" | undefined;
  /** If columns do not fit together, those with lower ranks stay. Absent: the column always stays. */
  readonly rank?: number | undefined;
}

/** Which columns a table has, by index, and how wide they are. */
export interface Fit {
  readonly columns: readonly number[];
  readonly widths: readonly number[];
}

/** Between two columns. */
export const GAP = 2;
/** A cell that is cut keeps at least this, while there are columns to leave out. */
const READABLE = 16;
const LEAST = 6;

/**
 * Fits columns into a width: cuts texts as long as they stay readable, the longest first, and leaves out the least important
 * columns. Where those that always stay find no room, their cells are cut further.
 * @param widths of the columns' longest cells
 */
export function fitColumns(fittings: readonly Fitting[], widths: readonly number[], totalWidth: number): Fit {
  const rankOf = (i: number) => fittings[i]?.rank ?? 0;
  const readable = (i: number) => (fittings[i]?.cut === "end" ? READABLE : Number.POSITIVE_INFINITY);
  const least = (i: number) => (fittings[i]?.cut === undefined ? Number.POSITIVE_INFINITY : LEAST);
  const all = fittings.map((_, i) => i);
  const kept = all.filter((i) => rankOf(i) === 0);
  let best =
    shrink(kept, widths, readable, totalWidth) ??
    shrink(kept, widths, least, totalWidth) ??
    narrowest(kept, widths, least);
  for (const more of all.filter((i) => rankOf(i) > 0).toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const columns = [...best.columns, more].toSorted((a, b) => a - b);
    best = shrink(columns, widths, readable, totalWidth) ?? best;
  }
  return best;
}

/** Takes width from the widest columns until all fit; undefined if they cannot. @param least width that a column keeps */
function shrink(
  columns: readonly number[],
  natural: readonly number[],
  least: (column: number) => number,
  totalWidth: number,
): Fit | undefined {
  const widths = columns.map((i) => natural[i] ?? 0);
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - totalWidth;
  for (; excess > 0; excess--) {
    let widest: number | undefined;
    for (const [at, column] of columns.entries()) {
      const width = widths[at] ?? 0;
      if (width > least(column) && (widest === undefined || width > (widths[widest] ?? 0))) widest = at;
    }
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { columns, widths };
}

function narrowest(
  columns: readonly number[],
  natural: readonly number[],
  least: (column: number) => number,
): Fit {
  return { columns, widths: columns.map((i) => Math.min(natural[i] ?? 0, least(i))) };
}

/** Made at its first use, which few commands have: it takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Cuts a text to a width, counted in cells of a terminal. */
export function cutText(text: string, width: number, where: "middle" | "end"): string {
  if (Bun.stringWidth(text) <= width) return text;
  if (width <= 1) return width === 1 ? "…" : "";
  const graphemes = graphemesOf(text);
  const tailWidth = where === "end" ? 0 : Math.floor((width - 1) / 2);
  const head = taken(graphemes, width - 1 - tailWidth);
  const tail = taken(graphemes.toReversed(), tailWidth).toReversed();
  return `${head.join("").trimEnd()}…${tail.join("")}`;
}

/** As many graphemes from the start as fit. */
function taken(graphemes: readonly string[], width: number): string[] {
  let used = 0;
  const fitting: string[] = [];
  for (const grapheme of graphemes) {
    used += Bun.stringWidth(grapheme);
    if (used > width) break;
    fitting.push(grapheme);
  }
  return fitting;
}
