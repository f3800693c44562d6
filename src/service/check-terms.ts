import type { Given, Kept, Kind, Term, TermChange, TermOf, TermTable } from "../domain/access/term.ts";
import { MOST_ENTRIES } from "../domain/access/term.ts";
import { invalid, mustBe } from "../domain/errors.ts";
import type { ModelId } from "../domain/ids.ts";
import { formatAmount, type Micros } from "../domain/money/money.ts";
import { formatMultiplier, isMultiplier, MAX_MULTIPLIER, ONE } from "../domain/money/multiplier.ts";
import { QUOTA_RESETS, type Quota } from "../domain/money/quota.ts";
import type { Addresses } from "../domain/ports/addresses.ts";

/** What the checks of terms need to know. */
export interface TermContext {
  readonly addresses: Addresses;
  readonly now: number;
  /** The quota that the key already has. */
  readonly quota?: Quota | undefined;
  /** Names of the operator's content checks, if they are known. */
  readonly checks?: readonly string[] | undefined;
}

const MODEL_PATTERN = /^[A-Za-z0-9._:/*-]{1,200}$/;
const CHECK = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;
/** The end of the year 9999, the last that every system can write as a date. */
const LATEST = 253_402_300_799_000;

/**
 * Checks the terms that an operator gave and returns them as they are stored: without duplicate values, and with ranges in one
 * notation.
 * @throws AppError `invalid_request` that names the field of the management API, what is allowed and what was given
 */
export function checkTerms<Table extends TermTable>(
  table: Table,
  given: { readonly [Name in keyof Table]?: unknown },
  context: TermContext,
): TermChange<Table> {
  const checked = Object.entries(table).flatMap(([name, term]) => {
    const value = given[name];
    return value === undefined ? [] : [[name, checkTerm(term, value, context)] as const];
  });
  // Each value is of its own term's kind.
  return Object.fromEntries(checked) as TermChange<Table>;
}

function checkTerm(term: Term, given: unknown, context: TermContext): unknown {
  if (given === null) return term.unset?.value ?? null;
  // By the types of all tables, the value for a term is of the term's kind.
  const check = CHECKS[term.kind] as (term: Term, given: unknown, context: TermContext) => unknown;
  return check(term, given, context);
}

const CHECKS: {
  readonly [K in Kind]: (term: TermOf<K>, given: Given[K], context: TermContext) => Kept[K];
} = {
  count: checkInteger,
  duration: checkInteger,
  time: checkTime,
  amount: ({ wire }, amount) => checkAmount(wire, amount),
  multiplier: ({ wire }, millionths) => {
    if (isMultiplier(millionths)) return millionths;
    const rule = `be above 0 and at most ${formatMultiplier(MAX_MULTIPLIER)}`;
    throw mustBe(wire, { rule }, millionths / ONE);
  },
  choice: ({ wire, among }, choice) => {
    if (among.includes(choice)) return choice;
    throw mustBe(wire, { oneOf: among }, choice);
  },
  choices: ({ wire, among }, choices) =>
    checkList(wire, choices, (choice) => {
      if (among.includes(choice)) return choice;
      throw mustBe(wire, { rule: `hold some of ${among.join(", ")}` }, choice);
    }),
  patterns: ({ wire }, patterns) =>
    checkList(wire, patterns, (pattern) => {
      if (MODEL_PATTERN.test(pattern)) return pattern;
      throw mustBe(wire, { rule: "hold ids of models, * standing for any characters" }, pattern);
    }),
  ranges: ({ wire }, ranges, { addresses }) =>
    checkList(wire, ranges, (given) => {
      const range = addresses.range(given);
      if (range !== undefined) return range;
      throw mustBe(wire, { rule: "hold addresses or ranges of them, such as 192.168.1.0/24" }, given);
    }),
  aliases: checkAliases,
  checks: ({ wire }, names, { checks }) =>
    [...new Set(names)].map((name) => {
      if (checks?.includes(name) ?? CHECK.test(name)) return name;
      if (checks === undefined) throw mustBe(wire, { rule: "hold names of checks" }, name);
      const known = checks.length === 0 ? "none are set up" : `there are ${checks.join(", ")}`;
      throw mustBe(wire, { rule: `hold names of checks in the server's settings (${known})` }, name);
    }),
  quota: checkQuota,
};

function checkInteger({ wire, most }: TermOf<"count" | "duration">, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw mustBe(wire, { integer: { least: 1, most } }, value);
}

function checkTime({ wire }: TermOf<"time">, at: number, { now }: TermContext): number {
  if (Number.isInteger(at) && at > now && at <= LATEST) return at;
  // People read dates. What is no date is shown as the API takes it, in seconds.
  const date = new Date(at);
  const given = Number.isNaN(date.getTime()) ? Math.round(at / 1000) : date.toISOString();
  throw mustBe(wire, { rule: "be a time to come, before the year 10000" }, given);
}

function checkAmount(field: string, amount: Micros): Micros {
  if (amount >= 0) return amount;
  throw mustBe(field, { form: "amount_from_zero" }, formatAmount(amount));
}

function checkList(field: string, given: readonly string[], checkOne: (each: string) => string) {
  const values = [...new Set(given.map(checkOne))];
  checkSize(field, values.length);
  return values;
}

function checkSize(field: string, size: number): void {
  if (size < 1 || size > MOST_ENTRIES)
    throw mustBe(field, { many: "entries", least: 1, most: MOST_ENTRIES }, size);
}

function checkAliases({ wire }: TermOf<"aliases">, aliases: Given["aliases"]): Kept["aliases"] {
  const entries = Object.entries(aliases);
  checkSize(wire, entries.length);
  const wrong = entries.find(([alias, model]) => !NAME.test(alias) || !NAME.test(model));
  if (wrong !== undefined) {
    const rule = "be names and the models they stand for, of letters, digits and . _ : / -";
    throw mustBe(wire, { rule }, wrong.join("="));
  }
  // Whether the model exists is only known when a request names it.
  return Object.fromEntries(entries) as Record<string, ModelId>;
}

function checkQuota({ wire }: TermOf<"quota">, terms: Given["quota"], { quota: before }: TermContext): Quota {
  const { limit = before?.limit, reset: given = before?.reset ?? "total" } = terms;
  if (limit === undefined) throw invalid({ kind: "quota_without_limit", field: `${wire}.limit` });
  const reset = QUOTA_RESETS.find((each) => each === given);
  if (reset === undefined) throw mustBe(`${wire}.reset`, { oneOf: QUOTA_RESETS }, given);
  return { limit: checkAmount(`${wire}.limit`, limit), reset };
}
