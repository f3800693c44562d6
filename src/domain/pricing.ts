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

/** A line's amount, rounded up to a whole micro-unit: the only rounding there is. */
function lineAmount(line: QuoteLine, outputs: number): Micros {
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
