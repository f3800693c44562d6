import type { Style } from "./style.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

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
    head: columns.map(({ title }) => style.bold(title)),
    colAligns: columns.map(({ align }) => align ?? "left"),
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
  fields: readonly (readonly [name: string, value: string | undefined])[],
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
