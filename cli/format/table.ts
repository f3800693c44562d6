import { cutText, type Fitting, fitColumns, GAP } from "./fit.ts";
import { printable } from "./printable.ts";
import type { Style } from "./style.ts";

/** A column: its heading, and what becomes of it on a narrow terminal. */
export type Column = { readonly title: string; readonly align?: "right" } & Fitting;

export const column = {
  /** Numbers. They are never cut, because a cut number would be wrong. */
  number: (title: string, rank?: number): Column => ({ title, align: "right", rank }),
  /** Ids, which are cut in the middle, and only where nothing else can be. */
  id: (title: string, rank?: number): Column => ({ title, cut: "middle", rank }),
  /** Words that are read as a whole: a state, a time. */
  word: (title: string, rank?: number): Column => ({ title, rank }),
  /** Text, which is cut at its end. */
  text: (title: string, rank?: number): Column => ({ title, cut: "end", rank }),
} as const;

export interface Table {
  readonly text: string;
  /** The headings of the columns that found no room. */
  readonly hidden: readonly string[];
}

/** A name and its value; undefined for nothing to show. */
export type Field = readonly [name: string, value: string | undefined];

const NO_BORDER = {
  ...{ top: "", "top-mid": "", "top-left": "", "top-right": "" },
  ...{ bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" },
  ...{ left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "" },
};

/** Rows that are drawn at a time: what its renderer takes grows with their square. */
const PIECE = 100;

/** Draws a table for people, no wider than their terminal. Loads its renderer only when it is needed. */
export async function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width }: { readonly style: Style; readonly width: number },
): Promise<Table> {
  if (rows.length === 0) return { text: "", hidden: [] };
  const { default: Renderer } = await import("cli-table3");
  const lines = rows.map((row) => row.map(oneLine));
  const widths = columns.map(({ title }, i) =>
    lines.reduce((widest, line) => Math.max(widest, Bun.stringWidth(line[i] ?? "")), Bun.stringWidth(title)),
  );
  const fit = fitColumns(columns, widths, width);
  const shown = fit.columns.flatMap((i, at) => {
    const column = columns[i];
    return column === undefined ? [] : [{ ...column, i, width: fit.widths[at] ?? 0 }];
  });
  const draw = (cells: string[][]) => {
    const table = new Renderer({
      colAligns: shown.map(({ align }) => align ?? "left"),
      colWidths: shown.map((each) => each.width),
      chars: { ...NO_BORDER, middle: " ".repeat(GAP) },
      style: { border: [], "padding-left": 0, "padding-right": 0 },
    });
    table.push(...cells);
    return table.toString().replaceAll(/ +$/gm, "");
  };
  const cells = [
    shown.map((each) => style.bold(cutText(each.title, each.width, "end"))),
    ...lines.map((line) => shown.map(({ i, width, cut }) => cutText(line[i] ?? "", width, cut ?? "end"))),
  ];
  const pieces = Array.from({ length: Math.ceil(cells.length / PIECE) }, (_, at) =>
    draw(cells.slice(at * PIECE, (at + 1) * PIECE)),
  );
  const hidden = columns.filter((_, i) => !fit.columns.includes(i)).map(({ title }) => title);
  return { text: `${pieces.join("\n")}\n`, hidden };
}

/** Prints one line per row, tabs between cells, no heading: for cut, sort and awk. */
export function renderTsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(oneLine).join("\t")}\n`).join("");
}

/** Prints one object's names and values: in two columns on a terminal, tab-separated elsewhere. */
export function renderFields(
  fields: readonly Field[],
  output: { readonly style: Style; readonly mode: string },
): string {
  const shown = fields.filter((field): field is readonly [string, string] => field[1] !== undefined);
  if (output.mode !== "pretty") return renderTsv(shown);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => `${output.style.dim(name.padEnd(width))}  ${oneLine(value)}\n`)
    .join("");
}

function oneLine(cell: string): string {
  return printable(cell.replaceAll(/[\t\r\n]+/g, " "));
}
