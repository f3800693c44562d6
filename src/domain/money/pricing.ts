import { haveSameMembers, type Json } from "../json.ts";
import type { Made } from "../media/made.ts";
import type { Model, PriceLine, PriceRule } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";
import { type AutomaticPrice, automaticPrice, madeParameters, possibleParameters } from "./automatic.ts";
import { type Micros, maxMicros, sumMicros, toMicros, ZERO } from "./money.ts";
import { ONE } from "./multiplier.ts";
import { type Extent, type PriceUnit, type TokenUsage, unitFacts, unitsTold } from "./price-units.ts";
import { pricedFields } from "./priced-fields.ts";

type Parameters = { readonly [name: string]: Json };

/** How a caller's price differs from the model's own. */
export interface PriceTerms {
  /** Replaces the model's rule. */
  readonly rule?: PriceRule | undefined;
  /** Millionths; multiplies every line, and the minimum. */
  readonly multiplier?: number | undefined;
}

/** One priced quantity of a quote. */
export interface QuoteLine {
  readonly sku: string;
  readonly unit: PriceUnit;
  readonly unitMicros: Micros;
  readonly per?: number | undefined;
  /** The most units of each output, or of the whole request if they are counted per request. Up to three decimal places count. */
  readonly perOutput: number;
}

/** A promised price. Kept with the task, so that a new price rule never changes a running task. */
export interface Quote {
  readonly priceVersion: string;
  readonly outputs: number;
  readonly lines: readonly QuoteLine[];
  readonly multiplier?: number | undefined;
  /** The rule's minimum, multiplied. */
  readonly minimum?: Micros | undefined;
  /** The most the task can cost; what is held. */
  readonly ceiling: Micros;
  /** Present if the upstream chooses parameters that affect the price. `lines` are then the most expensive ones. */
  readonly automatic?: AutomaticPrice | undefined;
}

/** What a task had delivered when it ended. */
export interface Delivered {
  readonly outputs: readonly Extent[];
  readonly usage?: (TokenUsage & { readonly made?: Made | undefined }) | undefined;
  /** Outputs that were made but could not be delivered. `usage` counts them, too. None unless given. */
  readonly lost?: number | undefined;
}

/** The sku of the line that raises a charge to the rule's minimum. */
export const MINIMUM_SKU = "minimum";

/** One line of a charge. */
export interface ChargeLine {
  readonly sku: string;
  /** In the units of the quote's line with that sku. */
  readonly quantity: number;
  readonly amount: Micros;
}

/** The final charge of a task. The amount is the sum of the lines. */
export interface Charge {
  readonly lines: readonly ChargeLine[];
  readonly amount: Micros;
}

/** What a quote was asked for. */
type Priced = Pick<GenerationRequest, "mode" | "n" | "parameters"> & { readonly terms: PriceTerms };

/** The latest quote for each model. Most requests differ from the one before in their prompt alone. */
const latest = new WeakMap<Model, Priced & { readonly promised: Quote }>();

/**
 * Prices a validated request, for estimate, hold and settlement. A quote without lines has no price (`isPriced`). Quotes for the same
 * may be one object.
 */
export function quote(model: Model, request: GenerationRequest, terms: PriceTerms = {}): Quote {
  const before = latest.get(model);
  if (before !== undefined && isSame(before, request, terms)) return before.promised;
  const { mode, n, parameters } = request;
  const promised = quoteAnew(model, request, terms);
  latest.set(model, { mode, n, parameters, terms, promised });
  return promised;
}

function isSame(before: Priced, { mode, n, parameters }: GenerationRequest, terms: PriceTerms): boolean {
  return (
    before.terms.rule === terms.rule &&
    before.terms.multiplier === terms.multiplier &&
    before.n === n &&
    before.mode === mode &&
    haveSameMembers(before.parameters, parameters)
  );
}

function quoteAnew(model: Model, request: GenerationRequest, terms: PriceTerms): Quote {
  const rule = terms.rule ?? model.price;
  const multiplier = terms.multiplier === ONE ? undefined : terms.multiplier;
  const minimum = minimumOf(rule, multiplier);
  const fields = pricedFields(model, request);
  const lines = quotedLines(rule, fields);
  const promised = { priceVersion: rule.version, outputs: request.n, lines };
  if (lines.length === 0) return { ...promised, ceiling: ZERO };
  const amounts = lines.map((line) => lineAmount(line, lineQuantity(line, request.n), multiplier));
  const ceiling = maxMicros(sumMicros(amounts), minimum ?? ZERO);
  const automatic = automaticPrice(rule.lines, fields);
  return { ...promised, multiplier, minimum, ceiling, ...(automatic && { automatic }) };
}

function minimumOf({ minimumMicros: unitMicros }: PriceRule, multiplier: number | undefined) {
  return unitMicros === undefined ? undefined : lineAmount({ unitMicros }, 1, multiplier);
}

/**
 * Every quote that can result from a quote with automatic parameters, depending on what is made. Without such parameters, only
 * the quote itself.
 */
export function possibleQuotes(promised: Quote): Quote[] {
  const { automatic } = promised;
  if (automatic === undefined) return [promised];
  return possibleParameters(automatic).map((parameters) => withParameters(promised, automatic, parameters));
}

/** The quote for what was made. */
function quoteOfMade(promised: Quote, { outputs, usage }: Delivered): Quote {
  const { automatic } = promised;
  if (automatic === undefined) return promised;
  const sizes = new Set(outputs.map(({ width, height }) => `${width}x${height}`));
  const [size] = sizes.size === 1 ? sizes : [];
  return withParameters(promised, automatic, madeParameters(automatic, { size, ...usage?.made }));
}

/**
 * The quote as if the request had named these parameters. A price that has no line, or is higher than the quote, does not
 * count.
 */
function withParameters(promised: Quote, automatic: AutomaticPrice, parameters: Parameters): Quote {
  const { outputs, multiplier, ceiling } = promised;
  const lines = quotedLines(automatic, parameters);
  const sum = sumMicros(lines.map((line) => lineAmount(line, lineQuantity(line, outputs), multiplier)));
  return lines.length < promised.lines.length || sum > ceiling ? promised : { ...promised, lines };
}

/** The lines of a rule that apply to a request with these parameters; none when it has no price. */
export function quotedLines(rule: Pick<PriceRule, "lines">, parameters: Parameters): QuoteLine[] {
  const lines: QuoteLine[] = [];
  for (const line of rule.lines) {
    if (!applies(line, parameters)) continue;
    const perOutput = unitsTold(line.unit, parameters) ?? line.most;
    if (perOutput === undefined) return [];
    const { sku, unit, unitMicros, per } = line;
    lines.push(
      per === undefined ? { sku, unit, unitMicros, perOutput } : { sku, unit, unitMicros, per, perOutput },
    );
  }
  return lines;
}

/** Whether a quote has a price. A request that no price line applies to is refused. */
export function isPriced(promised: Quote): boolean {
  return promised.lines.length > 0;
}

/** Units of a line for a number of outputs. */
export function lineQuantity({ unit, perOutput }: QuoteLine, outputs: number): number {
  return unitFacts(unit).of === "request" ? perOutput : perOutput * outputs;
}

/** The price of a quantity (to three decimal places) of a line, rounded up to a whole micro-unit. Nothing else rounds. */
export function lineAmount(
  { unitMicros, per = 1 }: Pick<QuoteLine, "unitMicros" | "per">,
  quantity: number,
  multiplier: number = ONE,
): Micros {
  const plain = unitMicros * quantity;
  if (per === 1 && multiplier === ONE && Number.isInteger(quantity) && Number.isSafeInteger(plain))
    return toMicros(plain);
  // A product of three numbers may exceed what a double holds exactly.
  const thousandths = BigInt(Math.round(quantity * 1000));
  const divisor = BigInt(per) * 1_000_000_000n;
  const dividend = BigInt(unitMicros) * thousandths * BigInt(multiplier);
  return toMicros(Number((dividend + divisor - 1n) / divisor));
}

/** Charges for what a task delivered, at most what was promised. A task that delivered nothing costs nothing. */
export function chargeFor(promised: Quote, delivered: Delivered): Charge {
  const outputs = delivered.outputs.slice(0, promised.outputs);
  if (outputs.length === 0) return { lines: [], amount: ZERO };
  const lines = quoteOfMade(promised, { ...delivered, outputs }).lines.map((line): ChargeLine => {
    const quantity = deliveredQuantity(line, promised.outputs, { ...delivered, outputs });
    return { sku: line.sku, quantity, amount: lineAmount(line, quantity, promised.multiplier) };
  });
  const sum = sumMicros(lines.map((line) => line.amount));
  const short = toMicros(Math.max(0, (promised.minimum ?? ZERO) - sum));
  if (short > 0) lines.push({ sku: MINIMUM_SKU, quantity: 1, amount: short });
  return { lines, amount: toMicros(sum + short) };
}

function deliveredQuantity(
  line: QuoteLine,
  outputsQuoted: number,
  { outputs, usage, lost = 0 }: Delivered,
): number {
  const { measured, reported, of } = unitFacts(line.unit);
  if (measured !== undefined) {
    return outputs.reduce(
      (total, output) => total + Math.min(line.perOutput, measured(output) ?? line.perOutput),
      0,
    );
  }
  const most = lineQuantity(line, outputsQuoted);
  const used = usage && reported?.(usage);
  if (used === undefined) return Math.min(most, lineQuantity(line, outputs.length));
  const ofDelivered =
    of === "output" && lost > 0 ? Math.ceil((used * outputs.length) / (outputs.length + lost)) : used;
  return Math.min(most, ofDelivered);
}

/** Whether a line applies to a request with these parameters. */
function applies(line: PriceLine, parameters: Parameters): boolean {
  if (line.when === undefined) return true;
  return Object.entries(line.when).every(([name, wanted]) => {
    const value = parameters[name];
    return Array.isArray(wanted) ? value !== undefined && wanted.includes(value) : value === wanted;
  });
}

/** The parameters that a price depends on, the mode among them, besides the number of outputs. */
export function pricedParameters(rule: PriceRule): string[] {
  const names = rule.lines.flatMap((line) => [
    ...Object.keys(line.when ?? {}),
    ...[unitFacts(line.unit).parameter ?? []].flat(),
  ]);
  return [...new Set(names)];
}
