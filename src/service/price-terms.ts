import type { Principal } from "../domain/access/account.ts";
import type { ModelId } from "../domain/ids.ts";
import type { Model, PriceRule } from "../domain/model/model.ts";
import type { PriceTerms } from "../domain/money/pricing.ts";
import type { PriceStore } from "../domain/ports/price-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";

export interface PriceDeps {
  readonly prices: Pick<PriceStore, "rule">;
  /** Rules of the settings file; none unless given. */
  readonly configuredPrices?: ReadonlyMap<ModelId, PriceRule> | undefined;
  readonly clock: Pick<Clock, "now">;
}

/** The source of a price. Later sources override earlier ones. */
export type PriceSource = "built_in" | "settings" | "set";

/** The price rule in force: the one that an operator set, else the settings file's, else the model's own. */
export function ruleInForce(
  { prices, configuredPrices, clock }: PriceDeps,
  model: Model,
): { readonly rule: PriceRule; readonly source: PriceSource } {
  const set = prices.rule(model.id, clock.now());
  if (set !== undefined) return { rule: set, source: "set" };
  const configured = configuredPrices?.get(model.id);
  if (configured !== undefined) return { rule: configured, source: "settings" };
  return { rule: model.price, source: "built_in" };
}

/** The rule and multiplier that a caller pays for a model now. */
export function priceTerms(
  deps: PriceDeps,
  principal: Principal,
  model: Model,
): PriceTerms & { readonly rule: PriceRule } {
  return { rule: ruleInForce(deps, model).rule, multiplier: principal.priceMultiplier };
}
