import type { Kept, Kind, TermTable } from "../../src/domain/access/term.ts";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import { formatMultiplier } from "../../src/domain/money/multiplier.ts";
import type { Field } from "./table.ts";
import { formatDuration, formatTime } from "./units.ts";

/** The values of a table's terms, for people. Values that nobody set are not shown. */
export function termFields<Table extends TermTable>(
  table: Table,
  values: object,
): { readonly [Name in keyof Table]: Field } {
  const given = new Map<string, unknown>(Object.entries(values));
  const fields = Object.entries(table).map(([name, { kind, label, unset }]): [string, Field] => {
    const value = given.get(name);
    // The value is of the term's kind, as the types of all tables say.
    const words = WORDS[kind] as (value: unknown) => string;
    return [name, [label, value === undefined || value === unset?.value ? undefined : words(value)]];
  });
  // One field for each term.
  return Object.fromEntries(fields) as { readonly [Name in keyof Table]: Field };
}

const joined = (values: readonly string[]) => values.join(", ");
const money = (amount: Kept["amount"]) => `${formatAmount(amount)} ${CURRENCY}`;

const WORDS: { readonly [K in Kind]: (value: Kept[K]) => string } = {
  count: String,
  duration: (seconds) => formatDuration(seconds * 1000),
  time: formatTime,
  amount: money,
  multiplier: (millionths) => `× ${formatMultiplier(millionths)}`,
  choice: (value) => value,
  choices: joined,
  patterns: joined,
  ranges: joined,
  aliases: (aliases) => joined(Object.entries(aliases).map((pair) => pair.join("="))),
  checks: (values) => joined(values) || "none",
  quota: ({ limit, reset }) => `${money(limit)} ${reset}`,
};
