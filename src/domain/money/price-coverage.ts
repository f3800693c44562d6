import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { PriceRule } from "../model/model.ts";
import { pricedParameters, quotedLines } from "./pricing.ts";

type Parameters = { readonly [name: string]: Json };

/** More cases than any model's prices need. A rule with more is not checked. */
const MOST_CASES = 100_000;
/** A range of at most this many whole numbers is tried in full. */
const WIDEST_RANGE = 100;

/**
 * Finds a request that a schema admits and a price rule has no line for. The schema is the model's, with its mode (`pricedSchema`).
 *
 * Tries each parameter that the price depends on with each value that matters: its enum, both booleans, a short range, the
 * values that conditions name, one value that no condition names, and absence if it is optional. Ignores rules over several
 * fields.
 *
 * @returns its parameters, or undefined when every request has a price
 * @throws RangeError when there are too many combinations
 */
export function unpricedCase(schema: JsonObject, rule: PriceRule): Parameters | undefined {
  return unpricedCases(schema, rule).next().value;
}

/** Finds all such requests. */
export function* unpricedCases(schema: JsonObject, rule: PriceRule): Generator<Parameters, undefined> {
  for (const parameters of casesOf(schema, rule)) {
    if (quotedLines(rule, parameters).length === 0) yield parameters;
  }
}

/** Whether a price rule has a line for any request that `unpricedCase` tries. */
export function pricesAnything(schema: JsonObject, rule: PriceRule): boolean {
  for (const parameters of casesOf(schema, rule)) if (quotedLines(rule, parameters).length > 0) return true;
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
  /** `undefined` stands for absence. */
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
  // A missing parameter gets its default before it is priced.
  return isRequired || described.default !== undefined ? values : [...values, undefined];
}

/** All values of a parameter that has few; undefined if there are many. */
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

/** For a parameter with many values: values that no condition names. */
function othersThan(named: readonly Json[], { type, examples }: JsonObject, name: string): Json[] {
  if (type === "integer" || type === "number")
    return [Math.max(0, ...named.filter((value) => typeof value === "number")) + 1];
  if (Array.isArray(examples)) return examples;
  return [named.length === 0 ? `any ${name}` : `other than ${named.join(", ")}`];
}
