import type { Json, JsonObject } from "../domain/json.ts";
import type { Model, PriceRule } from "../domain/model/model.ts";
import type { Forecast } from "../domain/money/forecast.ts";
import type { Catalog, PriceCatalog } from "../domain/ports/catalog.ts";
import type { PriceOverride, PriceStore } from "../domain/ports/price-store.ts";
import { findModel } from "./manage-models.ts";
import { refusal } from "./management.ts";
import { type PriceDeps, type PriceSource, ruleInForce } from "./price-terms.ts";
import { type PricedLine, pricedLines, priceRequest } from "./priced-request.ts";

/** A model's price rule in force. */
export interface PriceInForce {
  readonly model: Model;
  readonly rule: PriceRule;
  readonly source: PriceSource;
  /** Of a price that was set: when, and why. */
  readonly set?: Pick<PriceOverride, "setAt" | "reason"> | undefined;
  /** Parameters of a request that has no price, and is refusal for it; undefined when none is found. */
  readonly unpriced?: { readonly [name: string]: Json } | undefined;
}

/** What a request would hold by the rule in force. */
export interface RequestPrice {
  readonly kind: Forecast["kind"];
  readonly lines: readonly PricedLine[];
  /** Absent while there is no price; see `Forecast`. */
  readonly cost?: Pick<Extract<Forecast, { kind: "priced" }>, "least" | "most"> | undefined;
  /** Fields that decide the price and are neither given nor have a default. */
  readonly missing: readonly string[];
}

export interface PriceChange {
  /** A price rule as manifests have it. */
  readonly rule: unknown;
  readonly reason?: string | undefined;
}

/**
 * What an operator does with prices. Models are named by their ids. A price that is set holds for requests made from then on; a
 * task costs what it was accepted at. Refusals are AppErrors: `not_found` for what is no model, `invalid_request` for an unusable
 * rule, whose `param` is the path of the field at fault.
 */
export interface ManagePrices {
  /** Of every model there is, in the order they are listed. */
  list(): Promise<PriceInForce[]>;
  read(model: string): Promise<PriceInForce>;
  /**
   * Prices a request by the very quote of its create; prompt and media may be left out.
   *
   * @param parameters the fields of the create body
   * @param multiplier millionths
   */
  priceOf(model: string, parameters: JsonObject, multiplier?: number): Promise<RequestPrice>;
  /** Puts a rule before the model's own and that of the settings file. @returns the price as it is now */
  set(model: string, change: PriceChange): Promise<PriceInForce>;
  /** Takes back what was set. @returns the price as it is now, and whether anything was set */
  reset(model: string): Promise<PriceInForce & { readonly wasSet: boolean }>;
}

export interface ManagePricesDeps extends PriceDeps {
  readonly catalog: Pick<Catalog, "validate"> & PriceCatalog;
  readonly prices: PriceStore;
}

const MAX_REASON_LENGTH = 200;

export function createManagePrices(deps: ManagePricesDeps): ManagePrices {
  const { catalog, prices, clock } = deps;

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
    async list() {
      const overrides = await prices.overrides();
      return catalog.all().map((model) => inForce(model, overrides));
    },
    read,
    async priceOf(id, parameters, multiplier) {
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
    async set(id, { rule: value, reason = "" }) {
      const model = findModel(catalog, id);
      checkReason(reason);
      const price = catalog.readPrice(model, value, ruleInForce(deps, model).rule);
      if (!price.ok) throw refusal({ kind: "price_rule", field: price.path, finding: price.problem });
      await prices.set({ model: model.id, rule: price.rule, setAt: clock.now(), reason });
      return read(id);
    },
    async reset(id) {
      const model = findModel(catalog, id);
      const wasSet = await prices.remove(model.id);
      return { ...(await read(id)), wasSet };
    },
  };
}

function checkReason(reason: string): void {
  const { length } = [...reason];
  if (length <= MAX_REASON_LENGTH && !/\p{Cc}|\p{Cs}/u.test(reason)) return;
  throw refusal({ kind: "price_reason", field: "reason", most: MAX_REASON_LENGTH, length });
}
