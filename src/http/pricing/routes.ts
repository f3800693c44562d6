import { AppError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { CURRENCY, formatAmount } from "../../domain/money/money.ts";
import { formatMultiplier } from "../../domain/money/multiplier.ts";
import type { Estimate, EstimateCost, EstimateRequest } from "../../service/estimate.ts";
import { readJsonBody } from "../body.ts";
import type { Endpoint } from "../exchange.ts";
import { success } from "../reply.ts";
import { check } from "../wire/check.ts";
import { ESTIMATE_PRICE, ESTIMATE_REQUEST } from "./wire.ts";

/** POST /v1/pricing/estimate: of a create body as it is, or of one in `request`. */
export function pricingEndpoints(deps: { estimateCost: EstimateCost }): Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v1/pricing/estimate",
      access: "api_key",
      contract: ESTIMATE_PRICE,
      async handle({ request, principal }) {
        const body = await readJsonBody(request);
        const isWrapped = !Object.hasOwn(body, "model");
        const asked = isWrapped ? readWrapped(body) : { request: body };
        const estimate = await deps.estimateCost({ ...asked, principal }).catch((error: unknown) => {
          throw isWrapped && error instanceof AppError ? error.renamed((field) => `request.${field}`) : error;
        });
        return success(presentEstimate(estimate), undefined, { model: estimate.model });
      },
    },
  ];
}

function readWrapped(body: JsonObject): Omit<EstimateRequest, "principal"> {
  if (!Object.hasOwn(body, "request")) {
    throw new AppError("invalid_request", { kind: "estimate_without_model", field: "model" });
  }
  check(ESTIMATE_REQUEST, body);
  // The schema says so.
  return body as unknown as Omit<EstimateRequest, "principal">;
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;

function presentEstimate(estimate: Estimate): JsonObject {
  const { cost, duration, multiplier } = estimate;
  return {
    model: estimate.model,
    endpoint: estimate.endpoint,
    quantity: estimate.quantity,
    currency: CURRENCY,
    status: estimate.status,
    estimated_cost: cost === undefined ? null : formatAmount(cost.most),
    min_cost: cost === undefined ? null : formatAmount(cost.least),
    max_cost: cost === undefined ? null : formatAmount(cost.most),
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
  };
}
