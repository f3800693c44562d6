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

/** Draws a table for people, no wider than their terminal. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width }: { readonly style: Style; readonly width: number },
): Table {
  if (rows.length === 0) return { text: "", hidden: [] };
  const lines = rows.map((row) => row.map(oneLine));
  const widths = columns.map(({ title }, i) =>
    lines.reduce((widest, line) => Math.max(widest, Bun.stringWidth(line[i] ?? "")), Bun.stringWidth(title)),
  );
  const fit = fitColumns(columns, widths, width);
  const shown = fit.columns.flatMap((i, at) => {
    const column = columns[i];
    return column === undefined ? [] : [{ ...column, i, width: fit.widths[at] ?? 0 }];
  });
  const head = shown.map((each) => filled(style.bold(cutText(each.title, each.width, "end")), each));
  const text = [
    head,
    ...lines.map((line) =>
      shown.map((each) => filled(cutText(line[each.i] ?? "", each.width, each.cut ?? "end"), each)),
    ),
  ].map((cells) => `${cells.join(" ".repeat(GAP)).trimEnd()}\n`);
  const hidden = columns.filter((_, i) => !fit.columns.includes(i)).map(({ title }) => title);
  return { text: text.join(""), hidden };
}

function filled(cell: string, { width, align }: Pick<Column, "align"> & { readonly width: number }): string {
  const room = " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
  return align === "right" ? room + cell : cell + room;
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
