import { type Parameter, type Statement, statement } from "./session.ts";

/** Rows as one parameter, so that a statement takes any number of them. */
export function asRows(rows: readonly object[]): string {
  return JSON.stringify(rows);
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
