import type { Json, JsonObject } from "../domain/json.ts";
import type { Model, PriceRule } from "../domain/model/model.ts";
import { pricesAnything, unpricedCases } from "../domain/money/price-coverage.ts";
import type { ReadPrice } from "../domain/ports/catalog.ts";
import { readPrice, versionOf } from "./price.ts";
import { ManifestError } from "./reading.ts";
import type { Validator } from "./validate.ts";

/** Of the requests without a price, so many are looked at for one that the model takes. */
const MOST_LOOKED_AT = 1_000;

/** Reads a price rule that an operator has for a model; see `PriceCatalog`. */
export function readOperatorPrice(model: Model, value: unknown, before: PriceRule = model.price): ReadPrice {
  try {
    const given = readPrice({ file: "", path: "", value }, model);
    const version = versionOf(given);
    // A rule that was read, changed and written back has the version of the one that it was.
    const isTaken = [model.price, before].some(
      (other) => other.version === given.version && versionOf(other) !== version,
    );
    const rule = isTaken ? { ...given, version } : given;
    if (pricesAnything(model.schema, rule)) return { ok: true, rule };
    return { ok: false, path: "lines", problem: `price no request of ${model.id} at all` };
  } catch (error) {
    if (error instanceof ManifestError) return { ok: false, path: error.path, problem: error.problem };
    if (error instanceof RangeError) return { ok: false, path: "lines", problem: TOO_MANY };
    throw error;
  }
}

const TOO_MANY = "have more combinations of conditions than can be checked";

/** The first request that the model takes and the rule has no price for. */
export function unpricedRequest(
  validator: Pick<Validator, "validate">,
  model: Model,
  rule: PriceRule,
): { readonly [name: string]: Json } | undefined {
  let looked = 0;
  for (const parameters of unpricedCases(model.schema, rule)) {
    const body: JsonObject = { model: model.id, ...parameters };
    // What the schema admits field by field, its rules over several fields may refuse.
    if (validator.validate(model, body, { isPartial: true }).ok) return parameters;
    if (++looked === MOST_LOOKED_AT) return undefined;
  }
  return undefined;
}
