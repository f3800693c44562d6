import type { Given, GivenTerms, Kind, Term, TermOf, TermTable } from "../../domain/access/term.ts";
import { MOST_ENTRIES } from "../../domain/access/term.ts";
import { QUOTA_RESETS } from "../../domain/money/quota.ts";
import { closed, integer, list, nullable, type Properties, type Schema, text } from "../wire/schema.ts";
import { amount, unixSeconds } from "../wire/values.ts";
import { AMOUNT, amountOf, multiplierOf } from "./fields.ts";

/** Request schemas of a table's terms, by field. A term that can be unset accepts null. */
export function termRequests(table: TermTable): Properties {
  return fieldsOf(table, (term) => {
    const request = REQUESTS[term.kind] as (term: Term) => Schema;
    const schema: Schema = { description: describe(term), ...request(term) };
    return { title: term.label, ...(term.unset === undefined ? schema : orNull(term, schema)) };
  });
}

/** A choice lists its values, so null joins the list. */
function orNull(term: Term, schema: Schema): Schema {
  return term.kind === "choice" ? { ...schema, enum: [...term.among, null] } : nullable(schema);
}

/** Answer schemas of a table's terms, by field. A term that can lack a value can be null. */
export function termAnswers(table: TermTable): Properties {
  return fieldsOf(table, (term) => {
    const answer = ANSWERS[term.kind] as (description: string, term: Term) => Schema;
    const hasAlways = term.unset === undefined || term.unset.value !== undefined;
    return hasAlways ? answer(`${term.description}.`, term) : nullable(answer(describe(term), term));
  });
}

/** The terms in a body that fits `termRequests`. @throws AppError `invalid_request` for errors that the schema cannot find */
export function readTerms<Table extends TermTable>(table: Table, body: object): GivenTerms<Table> {
  const fields = new Map<string, unknown>(Object.entries(body));
  const given = Object.entries(table).map(([name, { kind, wire }]) => {
    const value = fields.get(wire);
    if (value === undefined || value === null || !Object.hasOwn(READERS, kind)) return [name, value];
    // The schema has checked the value for this kind of term.
    const read = READERS[kind as keyof Written] as (value: unknown, wire: string) => unknown;
    return [name, read(value, wire)];
  });
  // Each value was read as its own term's kind.
  return Object.fromEntries(given) as GivenTerms<Table>;
}

function fieldsOf(table: TermTable, schemaOf: (term: Term) => Schema): Properties {
  return Object.fromEntries(Object.values(table).map((term) => [term.wire, schemaOf(term)]));
}

function describe({ description, unset }: Term): string {
  return unset === undefined ? `${description}.` : `${description}; null: ${unset.means}.`;
}

const strings = (items: Schema = {}): Schema => ({
  type: "array",
  items: { type: "string", maxLength: 200, ...items },
  minItems: 1,
  maxItems: MOST_ENTRIES,
});
const wholeNumber = ({ most }: { readonly most: number }): Schema => ({
  type: "integer",
  minimum: 1,
  maximum: most,
});

const REQUESTS: {
  readonly [K in Kind]: (term: TermOf<K>) => { readonly enum?: readonly string[] } & Schema;
} = {
  count: wholeNumber,
  duration: wholeNumber,
  time: (term) => unixSeconds(describe(term)),
  amount: () => AMOUNT,
  multiplier: () => ({
    type: "string",
    pattern: "^\\d{1,4}(\\.\\d{1,6})?$",
    "x-must": "be a number above 0 and at most 1000, such as 1.25, as text with at most six decimal places",
  }),
  choice: ({ among }) => ({ enum: among }),
  choices: ({ among }) => ({ ...strings(), items: { type: "string", enum: among } }),
  patterns: () => strings(),
  ranges: () => strings(),
  aliases: () => ({
    type: "object",
    additionalProperties: { type: "string", maxLength: 200 },
    minProperties: 1,
    maxProperties: MOST_ENTRIES,
  }),
  checks: () => ({ ...strings(), minItems: 0 }),
  quota: () => ({
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    properties: {
      limit: { ...AMOUNT, description: "What the key may spend; absent: as the key has it." },
      reset: {
        type: "string",
        enum: QUOTA_RESETS,
        description: "When that begins anew, in UTC; `total`: never. Absent: as the key has it, or `total`.",
      },
    },
  }),
};

const count = (description: string) => integer(description, { minimum: 1 });
const texts = (description: string) => list(text(""), { description });

const ANSWERS: { readonly [K in Kind]: (description: string, term: TermOf<K>) => Schema } = {
  count,
  duration: count,
  time: unixSeconds,
  amount,
  multiplier: (description) => text(description, { examples: ["1.25"] }),
  choice: (description, { among }) => text(description, { enum: among }),
  choices: (description, { among }) => list(text("", { enum: among }), { description }),
  patterns: texts,
  ranges: texts,
  aliases: (description) => ({ type: "object", additionalProperties: text("Id of a model."), description }),
  checks: texts,
  quota: (description) =>
    closed(
      {
        limit: amount("What the key may spend."),
        reset: text("When that begins anew, in UTC.", { enum: QUOTA_RESETS }),
      },
      { description },
    ),
};

/** The value in a body for a term whose JSON differs from the term's value. */
interface Written {
  readonly time: number;
  readonly amount: string;
  readonly multiplier: string;
  readonly quota: { readonly limit?: string; readonly reset?: string };
}

const READERS: { readonly [K in keyof Written]: (value: Written[K], wire: string) => Given[K] } = {
  time: (seconds) => seconds * 1000,
  amount: (value, wire) => amountOf(wire, value),
  multiplier: (value, wire) => multiplierOf(wire, value),
  quota: ({ limit, reset }, wire) => ({ limit: amountOf(`${wire}.limit`, limit), reset }),
};
