import { canonicalJson } from "../domain/canonical-json.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { Model, PriceLine, PriceRule } from "../domain/model/model.ts";
import { formatAmount, type Micros, parseAmount, toMicros } from "../domain/money/money.ts";
import { unitFacts, unitsTold } from "../domain/money/price-units.ts";
import { pricedSchema } from "../domain/money/priced-fields.ts";
import { MINIMUM_SKU } from "../domain/money/pricing.ts";
import type { Path, Problem } from "../toolkit/schema-problems.ts";
import { hasProperty, propertyOf } from "./create-body.ts";
import { unless } from "./problem.ts";

/** A price rule as manifests and operators write it, in the shape that `manifest.schema.json` gives it. */
export interface PriceRuleForm {
  readonly version?: string;
  readonly lines: readonly PriceLineForm[];
  readonly minimum?: string;
}

export interface PriceLineForm extends Omit<PriceLine, "unitMicros"> {
  readonly amount: string;
}

/** The most that one line may charge for one output, and a rule at least for a task; far below where sums are no longer exact. */
const MOST_MICROS = toMicros(100_000_000_000);
/** The most seconds, or megapixels, that an output is assumed to have where the request tells how many. */
const MOST_UNITS_TOLD = 1_000;
const VERSION_LENGTH = 12;
/** How many values of a parameter a message lists. */
const MOST_LISTED = 50;

/** The price rule of a form that has no problems. `version` follows from the rest where it is not given. */
export function toPriceRule({ version, lines, minimum }: PriceRuleForm): PriceRule {
  const content = {
    lines: lines.map(toPriceLine),
    ...(minimum === undefined ? {} : { minimumMicros: amountOf(minimum) }),
  };
  return { version: version ?? versionOf(content), ...content };
}

function toPriceLine({ sku, unit, amount, ...rest }: PriceLineForm): PriceLine {
  return { sku, unit, unitMicros: amountOf(amount), ...rest };
}

/** The version of a rule that names none. Equal prices have equal versions, however they are written. */
export function versionOf({ lines, minimumMicros }: Omit<PriceRule, "version">): string {
  // A price rule is JSON all the way down.
  const text = canonicalJson({ lines, minimumMicros } as unknown as JsonObject);
  return Bun.SHA256.hash(text, "hex").slice(0, VERSION_LENGTH);
}

function amountOf(text: string): Micros {
  const amount = parseAmount(text);
  if (amount === undefined) throw new Error(`${JSON.stringify(text)} is not an amount`);
  return amount;
}

type PricedModel = Pick<Model, "schema" | "mediaFields" | "modes">;

/** The problems of a price rule that its schema cannot find. @param model has the parameters that the rule may depend on */
export function priceProblems(
  { lines, minimum = "0" }: PriceRuleForm,
  model: PricedModel,
  at: Path = [],
): Problem[] {
  const tooHigh = `is more than ${formatAmount(MOST_MICROS)}, the most there is`;
  const twice = lines.find((line, i) => lines.findIndex(({ sku }) => sku === line.sku) !== i);
  return [
    ...lines.flatMap((line, i) => lineProblems(line, model, [...at, "lines", i])),
    ...unless(twice === undefined, [...at, "lines"], `has two lines with the sku "${twice?.sku}"`),
    ...unless(amountOf(minimum) <= MOST_MICROS, [...at, "minimum"], tooHigh),
  ];
}

function lineProblems(line: PriceLineForm, model: PricedModel, at: Path): Problem[] {
  const { sku, unit, amount, per = 1, most, when = {} } = line;
  const dearest = (amountOf(amount) * (most ?? unitsTold(unit, {}) ?? MOST_UNITS_TOLD)) / per;
  const isMinimum = sku === MINIMUM_SKU;
  const tooDear = `can come to more than ${formatAmount(MOST_MICROS)} for one output, the most there is`;
  return [
    ...unless(!isMinimum, [...at, "sku"], `must not be "${sku}", which names what makes up for the minimum`),
    ...mostProblems(line, model, at),
    ...unless(dearest <= MOST_MICROS, [...at, "amount"], tooDear),
    ...Object.entries(when).flatMap(([name, condition]) =>
      conditionProblems(name, condition, model, [...at, "when", name]),
    ),
  ];
}

function mostProblems({ unit, most }: PriceLineForm, { schema }: PricedModel, at: Path): Problem[] {
  const { noun, parameter, most: canBeSaid } = unitFacts(unit);
  const path = [...at, "most"];
  if (canBeSaid === undefined) {
    const problem = "is for units whose number a request need not tell; an output is one";
    return unless(most === undefined, path, problem);
  }
  const problem =
    parameter === undefined
      ? `must say how many ${noun}s there can be at most`
      : `must say how many there can be at most, for the schema has no property "${parameter}"`;
  return unless(
    most !== undefined || (parameter !== undefined && hasProperty(schema, parameter)),
    path,
    problem,
  );
}

/** Properties of create bodies that are no parameters, because they have a place of their own or no effect on the price. */
const NO_PARAMETERS = ["model", "prompt", "n", "callback_url", "retain_seconds", "task_id", "index"];

function conditionProblems(name: string, condition: Json, model: PricedModel, path: Path): Problem[] {
  const property = propertyOf(pricedSchema(model), name);
  if (property === undefined) return [{ path, problem: "is no property of the schema" }];
  if (NO_PARAMETERS.includes(name) || model.mediaFields.some((field) => field.name === name))
    return [{ path, problem: "is nothing that a price can depend on" }];
  const choices = property.enum;
  if (!Array.isArray(choices)) return [];
  const listed = choices.slice(0, MOST_LISTED).map((each) => JSON.stringify(each));
  const others = choices.length > MOST_LISTED ? `, or one of ${choices.length - MOST_LISTED} others` : "";
  const problem = `must be one of ${listed.join(", ")}${others}`;
  if (!Array.isArray(condition)) return unless(choices.includes(condition), path, problem);
  return condition.flatMap((each, i) => unless(choices.includes(each), [...path, i], problem));
}
