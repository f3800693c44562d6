import type { Model } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";
import { type Micros, maxMicros, sumMicros, ZERO } from "./money.ts";
import { unitFacts, unitsTold } from "./price-units.ts";
import {
  isPriced,
  lineAmount,
  lineQuantity,
  type PriceTerms,
  pricedParameters,
  type Quote,
  quote,
} from "./pricing.ts";

/** What is known of a request's price before it is made. */
export type Forecast =
  /** `least` is charged when all outputs are delivered, `most` is what a create holds; equal where nothing is open. */
  | { readonly kind: "priced"; readonly quote: Quote; readonly least: Micros; readonly most: Micros }
  /** The price depends on parameters that are neither given nor have a default. */
  | { readonly kind: "needs_input"; readonly missing: readonly string[] }
  /** No price line is for such a request. */
  | { readonly kind: "unpriced" };

/** Prices a request that nobody has made yet, by the very quote that a create would hold. */
export function forecast(model: Model, request: GenerationRequest, terms: PriceTerms = {}): Forecast {
  const rule = terms.rule ?? model.price;
  const open = pricedParameters(rule).filter((name) => request.parameters[name] === undefined);
  const promised = quote(model, request, terms);
  if (!isPriced(promised))
    return open.length === 0 ? { kind: "unpriced" } : { kind: "needs_input", missing: open };
  const fewest = promised.lines.map((line) => ({
    ...line,
    perOutput: Math.min(
      line.perOutput,
      unitsTold(line.unit, request.parameters) ?? unitFacts(line.unit).fewest,
    ),
  }));
  const amounts = fewest.map((line) =>
    lineAmount(line, lineQuantity(line, promised.outputs), promised.multiplier),
  );
  const least = maxMicros(sumMicros(amounts), promised.minimum ?? ZERO);
  return { kind: "priced", quote: promised, least, most: promised.ceiling };
}
