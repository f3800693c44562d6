import { Option } from "commander";

/** `--csv`, of commands whose output goes into spreadsheets. */
export function csvOption(): Option {
  return new Option("--csv", "print comma-separated values with a heading").conflicts(["json", "plain"]);
}

/** A cell that spreadsheets may take for a formula, or carries what makes them go on in another cell. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** Text that somebody chose, as a cell: what a spreadsheet would calculate it takes for text, by an apostrophe before it. */
export function csvText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Comma-separated values by RFC 4180, with a heading. Cells stand as they are: give what people named through `csvText`. */
export function renderCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

function quoted(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
