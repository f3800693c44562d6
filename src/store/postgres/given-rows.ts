import { type Parameter, type Statement, statement } from "./session.ts";

const MAY_BE_REFUSED = /\\u(?:0000|d[89a-f])/;
/** What PostgreSQL takes in no text. Other escapes are read whole, so that no backslash counts twice. */
const ESCAPES = /\\(?:u(?:0000|d[89a-f]..)|.)/g;

/**
 * Rows as one parameter, so that a statement takes any number of them. Half of a character, as where an upstream cuts what it says, and a
 * NUL become U+FFFD.
 */
export function asRows(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  if (!MAY_BE_REFUSED.test(text)) return text;
  return text.replace(ESCAPES, (found) => (found.length === 2 ? found : "\\ufffd"));
}

/** The rows of a parameter that `asRows` made, as SQL. They are named `given`. */
export function given(parameter: string, types: Readonly<Record<string, string>>): string {
  const columns = Object.entries(types).map(([name, type]) => `"${name}" ${type}`);
  return `json_to_recordset(${parameter}::text::json) as given (${columns.join(", ")})`;
}

/**
 * Inserts the rows of a parameter, as SQL.
 *
 * @param types of what the rows say, by name
 * @param columns what the columns of the table become, as SQL
 */
export function inserting(
  table: string,
  types: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, string>>,
  { rows = "$1", rest = "" } = {},
): string {
  const names = Object.keys(columns).map((name) => `"${name}"`);
  return `insert into ${table} (${names.join(", ")})
     select ${Object.values(columns).join(", ")} from ${given(rows, types)} ${rest}`;
}

/** A statement that inserts the rows of its first parameter. */
export function insertion<Row extends object, Others extends readonly Parameter[] = []>(
  table: string,
  types: { readonly [Name in keyof Row]: string },
  columns: Readonly<Record<string, string>>,
  rest = "",
): Statement<never, [rows: string, ...Others]> {
  return statement(inserting(table, types, columns, { rest }));
}
