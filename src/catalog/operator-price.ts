import type { Json, JsonObject } from "../domain/json.ts";
import type { Model, PriceRule } from "../domain/model/model.ts";
import { pricesAnything, unpricedCases } from "../domain/money/price-coverage.ts";
import { MODE, meansMode, pricedSchema } from "../domain/money/priced-fields.ts";
import type { ReadPrice } from "../domain/ports/catalog.ts";
import type { SchemaChecker } from "../toolkit/json-schema.ts";
import { pathText } from "../toolkit/schema-problems.ts";
import { type PriceRuleForm, priceProblems, toPriceRule, versionOf } from "./price.ts";
import { priceSchemaProblems } from "./schema-check.ts";
import type { Validator } from "./validate.ts";

/** How many unpriced requests are tried before giving up the search for one that the model takes. */
const MOST_LOOKED_AT = 1_000;

/** Reads a price rule that an operator has for a model; see `PriceCatalog`. */
export function readOperatorPrice(
  checker: SchemaChecker,
  model: Model,
  value: unknown,
  before: PriceRule = model.price,
): ReadPrice {
  const [problem] = priceSchemaProblems(checker, value);
  if (problem !== undefined) return refused(pathText(problem.path), problem.problem);
  // What its schema has let through.
  const form = value as PriceRuleForm;
  const [fault] = priceProblems(form, model);
  if (fault !== undefined) return refused(pathText(fault.path), fault.problem);
  const given = toPriceRule(form);
  const version = versionOf(given);
  // A rule that was read, changed and written back has the version of the one it was.
  const isTaken = [model.price, before].some(
    (other) => other.version === given.version && versionOf(other) !== version,
  );
  const rule = isTaken ? { ...given, version } : given;
  try {
    if (pricesAnything(pricedSchema(model), rule)) return { ok: true, rule };
  } catch (error) {
    if (error instanceof RangeError) return refused("lines", TOO_MANY);
    throw error;
  }
  return refused("lines", `price no request of ${model.id} at all`);
}

const TOO_MANY = "have more combinations of conditions than can be checked";

function refused(path: string, problem: string): ReadPrice {
  return { ok: false, path, problem };
}

/** The first request that the model takes and the rule has no price for. None is found where there are too many to look at. */
export function unpricedRequest(
  validator: Pick<Validator, "takes">,
  model: Model,
  rule: PriceRule,
): { readonly [name: string]: Json } | undefined {
  try {
    return search(validator, model, rule);
  } catch (error) {
    // Of a manifest, which may have any price. Those of all other models are to be told all the same.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function search(
  validator: Pick<Validator, "takes">,
  model: Model,
  rule: PriceRule,
): { readonly [name: string]: Json } | undefined {
  let looked = 0;
  for (const fields of unpricedCases(pricedSchema(model), rule)) {
    const { [MODE]: mode, ...others } = fields;
    const parameters = meansMode(model) ? others : fields;
    const body: JsonObject = { model: model.id, ...parameters };
    // What the schema admits field by field, its rules over several fields may refuse.
    if (validator.takes(model, body, meansMode(model) ? mode : undefined)) return fields;
    if (++looked === MOST_LOOKED_AT) return undefined;
  }
  return undefined;
}
