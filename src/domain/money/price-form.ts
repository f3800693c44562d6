import type { Json, JsonObject } from "../json.ts";
import type { PriceRule } from "../model/model.ts";
import { CURRENCY, formatAmount, type Micros } from "./money.ts";
import { formatMultiplier } from "./multiplier.ts";

/** A price rule as manifests and answers write it: amounts as decimal texts, without absent members. */
export function priceForm({ version, lines, minimumMicros }: PriceRule): JsonObject {
  return {
    version,
    lines: lines.map(({ sku, unit, unitMicros, per, most, when }) => ({
      sku,
      unit,
      amount: formatAmount(unitMicros),
      ...(per === undefined ? {} : { per }),
      ...(most === undefined ? {} : { most }),
      ...(when === undefined ? {} : { when }),
    })),
    ...(minimumMicros === undefined ? {} : { minimum: formatAmount(minimumMicros) }),
  };
}

/** A model's price rule in force, as operators see it. */
export interface ShownPrice {
  readonly model: { readonly id: string };
  readonly rule: PriceRule;
  readonly source: "built_in" | "settings" | "set";
  readonly set?: { readonly setAt: number; readonly reason: string } | undefined;
  readonly unpriced?: { readonly [name: string]: Json } | undefined;
}

export function shownPriceForm({ model, rule, source, set, unpriced }: ShownPrice): JsonObject {
  return {
    model: model.id,
    source,
    set_at: set === undefined ? null : Math.floor(set.setAt / 1000),
    reason: set?.reason ?? null,
    price: priceForm(rule),
    unpriced: unpriced ?? null,
  };
}

/** The amount that a request would hold, or why it is not known. */
export interface ShownRequestPrice {
  readonly kind: "priced" | "needs_input" | "unpriced";
  readonly lines: readonly {
    readonly sku: string;
    readonly unit: string;
    readonly quantity: number;
    readonly unitMicros: Micros;
    readonly per?: number | undefined;
    readonly amount: Micros;
    readonly detail: string;
  }[];
  readonly cost?: { readonly least: Micros; readonly most: Micros } | undefined;
  readonly missing: readonly string[];
}

/** @param multiplier millionths; undefined if the caller named none */
export function requestPriceForm(
  { kind, lines, cost, missing }: ShownRequestPrice,
  multiplier: number | undefined,
): JsonObject {
  return {
    status: cost === undefined ? kind : cost.least === cost.most ? "exact" : "range",
    currency: CURRENCY,
    min_cost: cost === undefined ? null : formatAmount(cost.least),
    max_cost: cost === undefined ? null : formatAmount(cost.most),
    line_items: lines.map(({ sku, unit, quantity, unitMicros, per, amount, detail }) => ({
      sku,
      unit,
      quantity,
      unit_price: formatAmount(unitMicros),
      ...(per === undefined ? {} : { per }),
      amount: formatAmount(amount),
      detail,
    })),
    missing: [...missing],
    ...(multiplier === undefined ? {} : { multiplier: formatMultiplier(multiplier) }),
  };
}
