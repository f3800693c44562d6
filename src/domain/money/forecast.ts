import type { Model } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";
import { type Micros, maxMicros, sumMicros, toMicros, ZERO } from "./money.ts";
import { unitFacts, unitsTold } from "./price-units.ts";
import { pricedFields } from "./priced-fields.ts";
import {
  isPriced,
  lineAmount,
  lineQuantity,
  type PriceTerms,
  possibleQuotes,
  pricedParameters,
  type Quote,
  quote,
} from "./pricing.ts";

/** What is known about the price of a request that was not made yet. */
export type Forecast =
  /** A create holds `most`; a task that delivers all outputs costs at least `least`. They are equal if the price is certain. */
  | { readonly kind: "priced"; readonly quote: Quote; readonly least: Micros; readonly most: Micros }
  /** The price depends on parameters that are neither given nor have a default. */
  | { readonly kind: "needs_input"; readonly missing: readonly string[] }
  /** No price line applies to such a request. */
  | { readonly kind: "unpriced" };

/** Prices a request that was not made yet, with the quote that its create would hold. */
export function forecast(model: Model, request: GenerationRequest, terms: PriceTerms = {}): Forecast {
  const rule = terms.rule ?? model.price;
  const fields = pricedFields(model, request);
  const open = pricedParameters(rule).filter((name) => fields[name] === undefined);
  const promised = quote(model, request, terms);
  if (!isPriced(promised))
    return open.length === 0 ? { kind: "unpriced" } : { kind: "needs_input", missing: open };
  const least = Math.min(...possibleQuotes(promised).map((each) => leastOf(each, request.parameters)));
  return { kind: "priced", quote: promised, least: toMicros(least), most: promised.ceiling };
}

function leastOf(promised: Quote, parameters: GenerationRequest["parameters"]): Micros {
  const fewest = promised.lines.map((line) => ({
    ...line,
    perOutput: Math.min(line.perOutput, unitsTold(line.unit, parameters) ?? unitFacts(line.unit).fewest),
  }));
  const amounts = fewest.map((line) =>
    lineAmount(line, lineQuantity(line, promised.outputs), promised.multiplier),
  );
  return maxMicros(sumMicros(amounts), promised.minimum ?? ZERO);
}
