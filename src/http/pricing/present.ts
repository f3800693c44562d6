import { amountOrNull } from "../../domain/access/record-form.ts";
import type { JsonObject } from "../../domain/json.ts";
import { CURRENCY, formatAmount } from "../../domain/money/money.ts";
import { formatMultiplier } from "../../domain/money/multiplier.ts";
import type { Estimate } from "../../service/estimate.ts";

const seconds = (ms: number) => Math.round(ms / 100) / 10;

/** What a request would cost. */
export function presentEstimate(estimate: Estimate): JsonObject {
  const { cost, duration, multiplier, routes } = estimate;
  return {
    model: estimate.model,
    endpoint: estimate.endpoint,
    quantity: estimate.quantity,
    currency: CURRENCY,
    status: estimate.status,
    estimated_cost: amountOrNull(cost?.most),
    min_cost: amountOrNull(cost?.least),
    max_cost: amountOrNull(cost?.most),
    line_items: estimate.lines.map((line) => ({
      sku: line.sku,
      unit: line.unit,
      quantity: line.quantity,
      unit_price: formatAmount(line.unitMicros),
      ...(line.per === undefined ? {} : { per: line.per }),
      amount: formatAmount(line.amount),
      detail: line.detail,
    })),
    assumptions: estimate.assumptions.map(({ field, value, source }) => ({ field, value, source })),
    missing: [...estimate.missing],
    affordable: estimate.isAffordable ?? null,
    limited_by: estimate.limitedBy ?? null,
    estimated_seconds:
      duration === undefined ? null : { p50: seconds(duration.p50Ms), p90: seconds(duration.p90Ms) },
    price_version: estimate.priceVersion,
    ...(multiplier === undefined ? {} : { multiplier: formatMultiplier(multiplier) }),
    ...(routes === undefined
      ? {}
      : { routes: routes.map((route) => ({ route, max_cost: amountOrNull(cost?.most) })) }),
  };
}
