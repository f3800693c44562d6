import type { Json, JsonObject } from "../json.ts";
import { formatAmount } from "../money/money.ts";
import { formatMultiplier } from "../money/multiplier.ts";
import type { Kept, Kind, TermTable } from "./term.ts";

/** How a value of each kind is written in JSON. */
export const TERM_FORMS: { readonly [K in Kind]: (value: Kept[K]) => Json } = {
  count: (value) => value,
  duration: (seconds) => seconds,
  time: (atMs) => Math.floor(atMs / 1000),
  amount: formatAmount,
  multiplier: formatMultiplier,
  choice: (value) => value,
  choices: (values) => values,
  patterns: (values) => values,
  ranges: (values) => values,
  aliases: (value) => value,
  checks: (values) => values,
  quota: ({ limit, reset }) => ({ limit: formatAmount(limit), reset }),
};

/** The values of a table's terms as JSON, by their fields; null for what is not set. */
export function termForms(table: TermTable, values: object): JsonObject {
  const given = new Map<string, unknown>(Object.entries(values));
  return Object.fromEntries(
    Object.entries(table).map(([name, { kind, wire }]) => {
      const value = given.get(name);
      // The value is of the term's kind, as the types of all tables say.
      const form = TERM_FORMS[kind] as (value: unknown) => Json;
      return [wire, value === undefined ? null : form(value)];
    }),
  );
}
