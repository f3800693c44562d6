import type { Actor, Operator } from "../domain/access/actor.ts";
import { invalid } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { Model, PriceRule } from "../domain/model/model.ts";
import type { Forecast } from "../domain/money/forecast.ts";
import type { Catalog, PriceCatalog } from "../domain/ports/catalog.ts";
import type { PriceOverride, PriceStore } from "../domain/ports/price-store.ts";
import { findModel } from "./manage-models.ts";
import { type PriceDeps, type PriceSource, ruleInForce } from "./price-terms.ts";
import { type PricedLine, pricedLines, priceRequest } from "./priced-request.ts";

/** A model's price rule in force. */
export interface PriceInForce {
  readonly model: Model;
  readonly rule: PriceRule;
  readonly source: PriceSource;
  /** When and why an operator set the price, if one did. */
  readonly set?: Pick<PriceOverride, "setAt" | "reason"> | undefined;
  /** Parameters of a request that is refused because it has no price; undefined if none is found. */
  readonly unpriced?: { readonly [name: string]: Json } | undefined;
}

/** What a request would hold under the rule in force. */
export interface RequestPrice {
  readonly kind: Forecast["kind"];
  readonly lines: readonly PricedLine[];
  /** Absent if there is no price; see `Forecast`. */
  readonly cost?: Pick<Extract<Forecast, { kind: "priced" }>, "least" | "most"> | undefined;
  /** Fields that affect the price and are neither given nor have a default. */
  readonly missing: readonly string[];
}

export interface PriceChange {
  /** A price rule in the form of manifests. */
  readonly rule: unknown;
  readonly reason?: string | undefined;
}

export interface ManagePricesDeps extends PriceDeps {
  /** Who acts. */
  readonly actor: Actor;
  readonly catalog: Pick<Catalog, "validate"> & PriceCatalog;
  readonly prices: PriceStore;
}

/** The most characters of the reason for a price. */
export const MAX_PRICE_REASON_LENGTH = 200;

/**
 * What an operator can do with prices, by model id. A new price applies to later requests; accepted tasks keep theirs. Refusals
 * are AppErrors: `not_found` for unknown models; `invalid_request` for an unusable rule, with the path of the field at fault as
 * `param`.
 */
export function createManagePrices(deps: ManagePricesDeps) {
  const { actor, catalog, prices, clock } = deps;

  const inForce = (model: Model, overrides: readonly PriceOverride[]): PriceInForce => {
    const { rule, source } = ruleInForce(deps, model);
    const set = source === "set" ? overrides.find((each) => each.model === model.id) : undefined;
    return {
      model,
      rule,
      source,
      set: set && { setAt: set.setAt, reason: set.reason },
      unpriced: catalog.unpricedRequest(model, rule),
    };
  };
  const read = async (id: string) => inForce(findModel(catalog, id), await prices.overrides());

  return {
    /** The prices of all models, in the order of the catalogue. */
    async list(): Promise<PriceInForce[]> {
      const overrides = await prices.overrides();
      return catalog.all().map((model) => inForce(model, overrides));
    },
    read,
    /**
     * Prices a request with the same quote as its create. Prompt and media may be missing.
     * @param parameters the fields of the create body
     * @param multiplier millionths
     */
    async priceOf(id: string, parameters: JsonObject, multiplier?: number): Promise<RequestPrice> {
      const model = findModel(catalog, id);
      const { rule } = ruleInForce(deps, model);
      const body = { ...parameters, model: model.id };
      const { forecast } = priceRequest(catalog, model, { body, names: {} }, { rule, multiplier });
      return {
        kind: forecast.kind,
        lines: forecast.kind === "priced" ? pricedLines(forecast.quote, 1) : [],
        cost: forecast.kind === "priced" ? { least: forecast.least, most: forecast.most } : undefined,
        missing: forecast.kind === "needs_input" ? forecast.missing : [],
      };
    },
    /** Sets a rule that overrides the settings file's and the model's own. @returns the price as it is now */
    async set(id: string, { rule: value, reason = "" }: PriceChange): Promise<PriceInForce> {
      const model = findModel(catalog, id);
      checkReason(reason);
      const price = catalog.readPrice(model, value, ruleInForce(deps, model).rule);
      if (!price.ok) throw invalid({ kind: "price_rule", field: price.path, finding: price.problem });
      const act = { actor, at: clock.now() };
      await prices.set({ model: model.id, rule: price.rule, setAt: act.at, reason }, act);
      return read(id);
    },
    /** Removes a rule that was set. @returns the price as it is now, and whether anything was set */
    async reset(id: string): Promise<PriceInForce & { readonly wasSet: boolean }> {
      const model = findModel(catalog, id);
      const wasSet = await prices.remove(model.id, { actor, at: clock.now() });
      return { ...(await read(id)), wasSet };
    },
  };
}

function checkReason(reason: string): void {
  const { length } = [...reason];
  if (length <= MAX_PRICE_REASON_LENGTH && !/\p{Cc}|\p{Cs}/u.test(reason)) return;
  throw invalid({ kind: "price_reason", field: "reason", most: MAX_PRICE_REASON_LENGTH, length });
}

export type ManagePrices = ReturnType<typeof createManagePrices>;
/** The same for the actor of a management token. */
export type ManagePricesAs = (operator: Operator) => ManagePrices;
