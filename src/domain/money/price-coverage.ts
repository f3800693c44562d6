import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { PriceRule } from "../model/model.ts";
import { pricedParameters, quotedLines } from "./pricing.ts";

type Parameters = { readonly [name: string]: Json };

/** More than any model's prices need; beyond it, nothing is said. */
const MOST_CASES = 100_000;
/** Whole numbers of a range of so many are all tried. */
const WIDEST_RANGE = 100;

/**
 * Looks for requests that a schema admits and a price rule has no line for.
 *
 * Every parameter that the price depends on is tried with every value its schema can have that matters: those of its enum, both
 * booleans, a short range in full, those that conditions name, one that none names, and its absence where it may be absent. Rules
 * of the schema over several fields are not looked at.
 *
 * @returns the parameters of such a request, or undefined when every request has a price
 * @throws RangeError when there are too many combinations to look at
 */
export function unpricedCase(schema: JsonObject, rule: PriceRule): Parameters | undefined {
  return unpricedCases(schema, rule).next().value;
}

/** All of them, as `unpricedCase` finds the first. */
export function* unpricedCases(schema: JsonObject, rule: PriceRule): Generator<Parameters, undefined> {
  for (const parameters of casesOf(schema, rule)) {
    if (quotedLines(rule, parameters).length === 0) yield parameters;
  }
}

/** Whether a price rule has a line for any of the requests that `unpricedCase` looks at. */
export function pricesAnything(schema: JsonObject, rule: PriceRule): boolean {
  for (const parameters of casesOf(schema, rule)) {
    if (quotedLines(rule, parameters).length > 0) return true;
  }
  return false;
}

function* casesOf(schema: JsonObject, rule: PriceRule): Generator<Parameters> {
  const choices = pricedParameters(rule).map((name) => ({ name, values: valuesOf(schema, rule, name) }));
  const cases = choices.reduce((product, { values }) => product * values.length, 1);
  if (cases > MOST_CASES) throw new RangeError(`A price rule with ${cases} cases cannot be checked.`);
  for (let number = 0; number < cases; number++) yield caseOf(choices, number);
}

interface Choice {
  readonly name: string;
  /** `undefined` for absence. */
  readonly values: readonly (Json | undefined)[];
}

function caseOf(choices: readonly Choice[], number: number): Parameters {
  const parameters: Record<string, Json> = {};
  let rest = number;
  for (const { name, values } of choices) {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    if (value !== undefined) parameters[name] = value;
  }
  return parameters;
}

function valuesOf(schema: JsonObject, rule: PriceRule, name: string): (Json | undefined)[] {
  const property = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
  const described = isJsonObject(property) ? property : {};
  const named = rule.lines.flatMap((line) => [line.when?.[name] ?? []].flat(1));
  const values = closedValues(described) ?? [...new Set([...named, ...othersThan(named, described, name)])];
  const isRequired = Array.isArray(schema.required) && schema.required.includes(name);
  // What is left out is filled in with its default before it is priced.
  return isRequired || described.default !== undefined ? values : [...values, undefined];
}

/** All the values of a parameter that can have few; undefined for one that can have many. */
function closedValues({
  enum: choices,
  const: only,
  type,
  minimum,
  maximum,
}: JsonObject): Json[] | undefined {
  if (only !== undefined) return [only];
  if (Array.isArray(choices)) return choices;
  if (type === "boolean") return [true, false];
  if (type !== "integer" || typeof minimum !== "number" || typeof maximum !== "number") return undefined;
  const count = maximum - minimum + 1;
  return count > WIDEST_RANGE ? undefined : Array.from({ length: count }, (_, i) => minimum + i);
}

/** Values that no condition names, of a parameter that can have many. */
function othersThan(named: readonly Json[], { type, examples }: JsonObject, name: string): Json[] {
  if (type === "integer" || type === "number")
    return [Math.max(0, ...named.filter((value) => typeof value === "number")) + 1];
  if (Array.isArray(examples)) return examples;
  return [named.length === 0 ? `any ${name}` : `other than ${named.join(", ")}`];
}
