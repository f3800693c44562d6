import type { ModelId } from "../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { Model, PriceRule } from "../domain/model/model.ts";
import { formatAmount, parseAmount, ZERO } from "../domain/money/money.ts";
import type { PriceCatalog } from "../domain/ports/catalog.ts";
import { suggest } from "../domain/suggest.ts";

/** The prices of a settings file. */
export interface ConfiguredPrices {
  readonly prices: ReadonlyMap<ModelId, PriceRule>;
  /** What is wrong with the price; `path` is within `pricing`. */
  readonly problems: readonly { path: string; message: string; suggestion?: string | undefined }[];
  readonly warnings: readonly string[];
}

/** Reads the prices of a settings file, by model id, and reports every problem in them. */
export function readConfiguredPrices(catalog: PriceCatalog, pricing: JsonObject): ConfiguredPrices {
  const prices = new Map<ModelId, PriceRule>();
  const problems: ConfiguredPrices["problems"][number][] = [];
  const warnings: string[] = [];
  for (const [id, value] of Object.entries(pricing)) {
    const model = catalog.all().find((each) => each.id === id);
    if (model === undefined) {
      const ids = catalog.all().map((each) => each.id);
      problems.push({ path: id, message: "is no model", suggestion: suggest(id, ids) });
      continue;
    }
    const read = catalog.readPrice(model, value);
    if (!read.ok) {
      const isWhole = read.path === "";
      const needsExample = isWhole && !isNearly(value);
      problems.push({
        path: isWhole ? id : `${id}.${read.path}`,
        message: needsExample ? `${read.problem}; a price is ${exampleOf(model, value)}` : read.problem,
      });
      continue;
    }
    prices.set(model.id, read.rule);
    const unpriced = catalog.unpricedRequest(model, read.rule);
    if (unpriced !== undefined)
      warnings.push(
        `pricing.${id} has no price for ${describeRequest(unpriced)}; such requests are refused.`,
      );
  }
  return { prices, problems, warnings };
}

/** Whether a price has the right form but for a misspelling, which is named. */
function isNearly(value: Json | undefined): boolean {
  return isJsonObject(value) && Object.keys(value).some((name) => suggest(name, ["lines"]) !== undefined);
}

/** A price of the right form, of the amount that was given where it is one. */
function exampleOf({ id, price }: Model, value: Json | undefined): string {
  const { unit = "output", unitMicros = ZERO } = price.lines[0] ?? {};
  const given =
    typeof value === "number" || typeof value === "string" ? parseAmount(String(value)) : undefined;
  return `{ lines: [{ sku: ${id}, unit: ${unit}, amount: "${formatAmount(given ?? unitMicros)}" }] }`;
}

/** Parameters of a request as a message shows them. */
function describeRequest(parameters: JsonObject): string {
  const names = Object.keys(parameters);
  if (names.length === 0) return "requests that leave out what the price depends on";
  return `requests with ${names.map((name) => `${name} ${JSON.stringify(parameters[name])}`).join(", ")}`;
}
