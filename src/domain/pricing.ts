import type { Model, PriceLine, PriceUnit } from "./model.ts";
import { type Micros, sumMicros, toMicros } from "./money.ts";
import type { GenerationRequest } from "./request.ts";

/** One priced quantity of a quote, per output. */
export interface QuoteLine {
  readonly sku: string;
  readonly unit: PriceUnit;
  readonly unitMicros: Micros;
  /** Units for each output: 1 for `output`, seconds for `second`. */
  readonly perOutput: number;
}

/** A price promised. Kept with the task, so that an edited price rule never changes a running task. */
export interface Quote {
  readonly priceVersion: string;
  readonly outputs: number;
  readonly lines: readonly QuoteLine[];
  /** The most the task can cost; what is held. */
  readonly ceiling: Micros;
}

function applies(line: PriceLine, request: GenerationRequest): boolean {
  return Object.entries(line.when ?? {}).every(([name, value]) => request.parameters[name] === value);
}

function unitsPerOutput(unit: PriceUnit, request: GenerationRequest): number {
  if (unit === "output") return 1;
  const duration = request.parameters.duration;
  return typeof duration === "number" ? duration : 0;
}

/** What a line comes to for so many outputs, rounded up to a whole micro-unit: the only rounding there is. */
export function lineAmount(line: QuoteLine, outputs: number): Micros {
  return toMicros(Math.ceil(line.unitMicros * line.perOutput * outputs));
}

/**
 * Prices a validated request by its model's rule. The one function behind estimate, hold and settlement.
 *
 * @returns a quote whose ceiling is the price of all outputs asked for
 */
export function quote(model: Model, request: GenerationRequest): Quote {
  const lines = model.price.lines
    .filter((line) => applies(line, request))
    .map((line) => ({
      sku: line.sku,
      unit: line.unit,
      unitMicros: line.unitMicros,
      perOutput: unitsPerOutput(line.unit, request),
    }));
  return {
    priceVersion: model.price.version,
    outputs: request.n,
    lines,
    ceiling: sumMicros(lines.map((line) => lineAmount(line, request.n))),
  };
}

/** What a task that delivered `outputs` of the quoted outputs costs; never above the quote's ceiling. */
export function captureAmount(promised: Quote, outputs: number): Micros {
  const delivered = Math.min(outputs, promised.outputs);
  return sumMicros(promised.lines.map((line) => lineAmount(line, delivered)));
}

/** What is known of a request's price before it is made. */
export type Forecast =
  /** `least` is charged when all outputs are delivered, `most` is what a create holds; equal where nothing is open. */
  | { readonly kind: "priced"; readonly quote: Quote; readonly least: Micros; readonly most: Micros }
  /** The price depends on parameters that are neither given nor have a default. */
  | { readonly kind: "needs_input"; readonly missing: readonly string[] }
  /** No price line is for such a request. */
  | { readonly kind: "unpriced" };

/** Prices a request that nobody has made yet, by the very quote that a create would hold. */
export function forecast(model: Model, request: GenerationRequest): Forecast {
  const promised = quote(model, request);
  const open = pricedParameters(model).filter((name) => request.parameters[name] === undefined);
  const lacksDuration = promised.lines.some((line) => line.unit === "second") && open.includes("duration");
  if (lacksDuration) return { kind: "needs_input", missing: ["duration"] };
  if (promised.lines.length === 0)
    return open.length === 0 ? { kind: "unpriced" } : { kind: "needs_input", missing: open };
  const least = captureAmount(promised, promised.outputs);
  return { kind: "priced", quote: promised, least, most: promised.ceiling };
}

/** The parameters that a model's price depends on, besides the number of outputs. */
export function pricedParameters(model: Model): string[] {
  const names = model.price.lines.flatMap((line) => [
    ...Object.keys(line.when ?? {}),
    ...(line.unit === "second" ? ["duration"] : []),
  ]);
  return [...new Set(names)];
}
