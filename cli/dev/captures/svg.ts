import { INK, PAPER } from "./palette.ts";
import { type Cell, type Line, textOf } from "./screen.ts";

const CELL_WIDTH = 8.4;
const CELL_HEIGHT = 18;
const FONT_SIZE = 14;
/** From the top of a cell to the foot of its letters. */
const BASELINE = 13.5;
const MARGIN = 14;
const BAR = 30;
const FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Draws a screen as a window, in one file that needs no other: no fonts, no scripts, no links. */
export function renderSvg(lines: readonly Line[], title: string): string {
  const columns = Math.max(40, ...lines.map((line) => textOf(line).length));
  const width = round(columns * CELL_WIDTH + 2 * MARGIN);
  const height = BAR + lines.length * CELL_HEIGHT + 2 * MARGIN;
  const name = escaped(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${name}">`,
    `<title>${name}</title>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="${PAPER}" stroke="#57606a"/>`,
    ...["#ff5f57", "#febc2e", "#28c840"].map(
      (colour, i) => `<circle cx="${20 + i * 20}" cy="${BAR / 2 + 2}" r="6" fill="${colour}"/>`,
    ),
    `<g font-family="${FONTS}" font-size="${FONT_SIZE}" fill="${INK}" shape-rendering="crispEdges">`,
    `<text x="${round(width / 2)}" y="${BAR / 2 + 6}" text-anchor="middle" opacity="0.7">${name}</text>`,
    ...lines.flatMap((line, row) => drawLine(line, BAR + MARGIN + row * CELL_HEIGHT)),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function drawLine(line: Line, top: number): string[] {
  const papers = runsOf(line, (a, b) => a.paper === b.paper).flatMap(({ cells, column }) => {
    const paper = cells[0]?.paper;
    return paper === undefined ? [] : [rectangle(column, columnsOf(cells), top, 0, 1, `fill="${paper}"`)];
  });
  const inks = runsOf(line, isWrittenTogether).flatMap((run) => drawRun(run, top));
  return [...papers, ...inks];
}

/** Cells beside each other that are alike. */
interface Run {
  readonly cells: readonly Cell[];
  readonly column: number;
}

function runsOf(line: Line, isAlike: (a: Cell, b: Cell) => boolean): Run[] {
  const runs: { cells: Cell[]; column: number }[] = [];
  for (const [column, cell] of line.entries()) {
    const run = runs.at(-1);
    const last = run?.cells.at(-1);
    if (run !== undefined && last !== undefined && isAlike(last, cell)) run.cells.push(cell);
    else runs.push({ cells: [cell], column });
  }
  return runs;
}

/** Blocks are drawn as areas, so that they join whatever the font; wide characters stand for themselves. */
function isWrittenTogether(a: Cell, b: Cell): boolean {
  const isAlike =
    a.ink === b.ink && a.isBold === b.isBold && a.isDim === b.isDim && a.isUnderlined === b.isUnderlined;
  if (!isAlike || b.width === 2 || a.width !== 1) return false;
  return a.text in BLOCKS || b.text in BLOCKS ? a.text === b.text : true;
}

const columnsOf = (cells: readonly Cell[]): number => cells.reduce((sum, { width }) => sum + width, 0);

/** Which part of its cell a block fills: from the top, to the bottom, from the left, to the right, how densely. */
const BLOCKS: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
  "█": [0, 1, 0, 1, 1],
  "▀": [0, 0.5, 0, 1, 1],
  "▌": [0, 1, 0, 0.5, 1],
  "▐": [0, 1, 0.5, 1, 1],
  "▏": [0, 1, 0, 0.125, 1],
  "▕": [0, 1, 0.875, 1, 1],
  "░": [0, 1, 0, 1, 0.25],
  "▒": [0, 1, 0, 1, 0.5],
  "▓": [0, 1, 0, 1, 0.75],
  ...Object.fromEntries([..."▁▂▃▄▅▆▇"].map((each, i) => [each, [1 - (i + 1) / 8, 1, 0, 1, 1]])),
};

function drawRun({ cells, column }: Run, top: number): string[] {
  const [first] = cells;
  if (first === undefined) return [];
  const block = BLOCKS[first.text];
  const fill = `fill="${first.ink ?? INK}"`;
  if (block !== undefined) {
    const [from, to, left, right, density] = block;
    const paint = density === 1 ? fill : `${fill} opacity="${density}"`;
    const isWhole = left === 0 && right === 1;
    if (isWhole) return [rectangle(column, cells.length, top, from, to, paint)];
    return cells.map((_, i) => rectangle(column + i + left, right - left, top, from, to, paint));
  }
  const style = [
    first.ink === undefined ? "" : ` ${fill}`,
    first.isBold ? ' font-weight="bold"' : "",
    first.isDim ? ' opacity="0.65"' : "",
    first.isUnderlined ? ' text-decoration="underline"' : "",
  ].join("");
  const text = cells.map((cell) => cell.text).join("");
  // Two spaces would become one. Each part is put where it belongs.
  return [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: part, index }) => {
    const columns = first.width === 2 ? 2 : [...part].length;
    const x = round(MARGIN + (column + [...text.slice(0, index)].length) * CELL_WIDTH);
    const length = round(columns * CELL_WIDTH);
    return `<text x="${x}" y="${round(top + BASELINE)}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(part)}</text>`;
  });
}

function rectangle(
  column: number,
  columns: number,
  top: number,
  from: number,
  to: number,
  paint: string,
): string {
  const x = round(MARGIN + column * CELL_WIDTH);
  const y = round(top + from * CELL_HEIGHT);
  return `<rect x="${x}" y="${y}" width="${round(columns * CELL_WIDTH)}" height="${round((to - from) * CELL_HEIGHT)}" ${paint}/>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text that means nothing to XML, without the characters that XML forbids. */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? "")
    .replaceAll(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|\p{Cs}/gu, "\ufffd");
}
