import type { Given, GivenTerms, Kept, Kind, TermTable } from "../../src/domain/access/term.ts";
import { TERM_FORMS } from "../../src/domain/access/term-form.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import { formatAmount } from "../../src/domain/money/money.ts";
import { QUOTA_RESETS } from "../../src/domain/money/quota.ts";
import { amountIn, countIn, multiplierIn, objectIn, textIn, textsIn, timeIn, wordIn } from "./fields.ts";

/** What an operator wants of a table's terms as a body of the management API; what is absent stays absent. */
export function termFieldsOf<Table extends TermTable>(table: Table, given: GivenTerms<Table>): JsonObject {
  const values = new Map<string, unknown>(Object.entries(given));
  return Object.fromEntries(
    Object.entries(table).map(([name, { kind, wire }]) => {
      const value = values.get(name);
      if (value === undefined || value === null) return [wire, value];
      // The value was given for a term of this kind.
      const write = WRITERS[kind] as (value: unknown) => Json;
      return [wire, write(value)];
    }),
  );
}

/** The values of a table's terms in an answer of the management API, by the names of the terms. */
export function readTermFields(table: TermTable, form: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(table).map(([name, { kind, wire }]) => [
      name,
      form[wire] == null ? undefined : READERS[kind](form, wire),
    ]),
  );
}

const WRITERS: { readonly [K in Kind]: (value: Given[K]) => Json } = {
  ...TERM_FORMS,
  aliases: (value) => value,
  quota: ({ limit, reset }) => ({
    ...(limit === undefined ? {} : { limit: formatAmount(limit) }),
    ...(reset === undefined ? {} : { reset }),
  }),
};

const READERS: { readonly [K in Kind]: (form: JsonObject, name: string) => Kept[K] } = {
  count: countIn,
  duration: countIn,
  time: timeIn,
  amount: amountIn,
  multiplier: multiplierIn,
  choice: textIn,
  choices: textsIn,
  patterns: textsIn,
  ranges: textsIn,
  checks: textsIn,
  aliases(form, name) {
    const aliases = objectIn(form, name);
    return Object.fromEntries(
      // Ids of models are text of any kind.
      Object.keys(aliases).map((alias) => [alias, textIn(aliases, alias) as ModelId]),
    );
  },
  quota(form, name) {
    const quota = objectIn(form, name);
    return { limit: amountIn(quota, "limit"), reset: wordIn(quota, "reset", QUOTA_RESETS) };
  },
};
