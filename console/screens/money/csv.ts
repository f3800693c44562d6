import type { UsageRow } from "./figures.ts";

const COLUMNS = [
  "day",
  "model",
  "provider",
  "account_id",
  "account",
  "key_id",
  "key",
  "completed",
  "failed",
  "cancelled",
  "outputs",
  "charged",
  "upstream_cost",
  "margin",
] as const satisfies readonly (keyof UsageRow)[];

/** Rows as a table for other programs, exact as the service gave them. Columns that no row has are left out. */
export function csvOf(rows: readonly UsageRow[]): string {
  const columns = COLUMNS.filter((column) => rows.some((row) => row[column] !== undefined));
  const lines = rows.map((row) => columns.map((column) => cell(row[column])).join());
  return `${[columns.join(), ...lines].join("\r\n")}\r\n`;
}

/** A name may begin like a formula, which spreadsheets would run: amounts alone may begin with a minus. */
function cell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
