import type { Style } from "./style.ts";

/** A heading; `right` aligns its cells to the right. */
export type Column = string | { readonly right: string };

/** A name and its value; undefined for nothing to show. */
export type Field = readonly [name: string, value: string | undefined];

const NO_BORDER = {
  ...{ top: "", "top-mid": "", "top-left": "", "top-right": "" },
  ...{ bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" },
  ...{ left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  " },
};

/** Draws a table for people. Loads its renderer only when it is needed. */
export async function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: Style,
): Promise<string> {
  if (rows.length === 0) return "";
  const { default: Table } = await import("cli-table3");
  const table = new Table({
    head: columns.map((column) => style.bold(typeof column === "string" ? column : column.right)),
    colAligns: columns.map((column) => (typeof column === "string" ? "left" : "right")),
    chars: NO_BORDER,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => row.map(oneLine)));
  return `${table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
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
  return shown.map(([name, value]) => `${output.style.dim(name.padEnd(width))}  ${value}\n`).join("");
}

function oneLine(cell: string): string {
  return cell.replaceAll(/[\t\r\n]+/g, " ");
}
