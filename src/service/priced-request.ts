import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { type Forecast, forecast } from "../domain/money/forecast.ts";
import { type Micros, toMicros } from "../domain/money/money.ts";
import { formatMultiplier } from "../domain/money/multiplier.ts";
import { type PriceUnit, unitFacts } from "../domain/money/price-units.ts";
import {
  lineAmount,
  lineQuantity,
  MINIMUM_SKU,
  type PriceTerms,
  type Quote,
} from "../domain/money/pricing.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { GenerationRequest } from "../domain/task/request.ts";
import { namesFrom } from "../domain/words/say.ts";
import type { ModelBody } from "./compat-request.ts";
import { toGenerationRequest } from "./generation-request.ts";
import { namedInputs } from "./named-inputs.ts";

/** A request that was not made, read as its create would read it. */
export interface PricedRequest {
  readonly body: JsonObject;
  /** The request, without the content of its inputs. */
  readonly request: GenerationRequest;
  /** Fields that are missing and that the create needs. */
  readonly missing: readonly string[];
  readonly forecast: Forecast;
}

/**
 * Prices a body with the validator and the quote of the create; prompt and media may be missing.
 * @throws AppError like the create of the same body, with the caller's names for the fields
 */
export function priceRequest(
  catalog: Pick<Catalog, "validate">,
  model: Model,
  given: ModelBody,
  terms: PriceTerms,
): PricedRequest {
  const validated = catalog.validate(model, given.body, { isPartial: true });
  if (!validated.ok) throw invalid(validated.facts).renamed(namesFrom(given.names));
  const { body, missing = [] } = validated;
  const canonical = toGenerationRequest(model, body, namedInputs(model, body, missing));
  return { body, request: canonical, missing, forecast: forecast(model, canonical, terms) };
}

/** One line of a price, for people and programs. The amounts of all lines add up to the total. */
export interface PricedLine {
  readonly sku: string;
  /** `task` for the amount that raises each task to the minimum. */
  readonly unit: PriceUnit | "task";
  /** Units of all outputs of all requests. */
  readonly quantity: number;
  readonly unitMicros: Micros;
  /** `unitMicros` is the price of this many units; 1 unless given. */
  readonly per?: number | undefined;
  readonly amount: Micros;
  /** How quantity and amount were calculated, for people. */
  readonly detail: string;
}

/** The price lines of what this many requests with this quote would hold. */
export function pricedLines(promised: Quote, requests: number): PricedLine[] {
  const { outputs, multiplier } = promised;
  const lines = promised.lines.map((line): PricedLine => {
    const quantity = lineQuantity(line, outputs);
    return {
      sku: line.sku,
      unit: line.unit,
      quantity: quantity * requests,
      unitMicros: line.unitMicros,
      per: line.per,
      amount: toMicros(lineAmount(line, quantity, multiplier) * requests),
      detail: factors([
        ...(line.unit === "output" ? [] : [count(line.perOutput, unitFacts(line.unit).noun)]),
        ...(unitFacts(line.unit).of === "request" ? [] : [count(outputs, "output")]),
        ...(requests === 1 ? [] : [count(requests, "request")]),
        ...(multiplier === undefined ? [] : [formatMultiplier(multiplier)]),
      ]),
    };
  });
  const missing = promised.ceiling * requests - lines.reduce((sum, line) => sum + line.amount, 0);
  if (missing === 0) return lines;
  const short: PricedLine = {
    sku: MINIMUM_SKU,
    unit: "task",
    quantity: requests,
    unitMicros: toMicros(missing / requests),
    amount: toMicros(missing),
    detail: factors(["up to the minimum", ...(requests === 1 ? [] : [count(requests, "request")])]),
  };
  return [...lines, short];
}

const factors = (parts: readonly string[]) => parts.join(" × ");

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
