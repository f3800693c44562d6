import { Option } from "commander";

/** `--csv`, for commands whose output goes into spreadsheets. */
export function csvOption(): Option {
  return new Option("--csv", "print comma-separated values with a heading").conflicts(["json", "plain"]);
}

/** Cells that a spreadsheet may read as a formula or split into several cells. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** Makes a cell from text that a user chose. Puts an apostrophe before a text that a spreadsheet would calculate. */
export function csvText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Comma-separated values by RFC 4180, with a heading. Cells are written unchanged: pass names that users chose through `csvText`. */
export function renderCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

function quoted(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
