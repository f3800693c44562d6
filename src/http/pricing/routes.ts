import { AppError, invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { EstimateCost, EstimateRequest } from "../../service/estimate.ts";
import { readJsonBody } from "../body.ts";
import { type Endpoint, keyed } from "../exchange.ts";
import { WITHOUT_CONTENT } from "../read-json.ts";
import { success } from "../reply.ts";
import { routingOf } from "../routing.ts";
import { check } from "../wire/check.ts";
import { presentEstimate } from "./present.ts";
import { ESTIMATE_PRICE, ESTIMATE_REQUEST } from "./wire.ts";

/** POST /v1/pricing/estimate, with a create body either directly or in `request`. */
export function pricingEndpoints(deps: { estimateCost: EstimateCost }): Endpoint[] {
  return [
    keyed("POST", "/v1/pricing/estimate", ESTIMATE_PRICE, { sheds: "lists" }, async (exchange) => {
      const { principal, request } = exchange;
      const routing = routingOf(request);
      const { body } = await readJsonBody(exchange, WITHOUT_CONTENT);
      const isWrapped = !Object.hasOwn(body, "model");
      const asked = isWrapped ? readWrapped(body) : { request: body };
      const estimate = await deps.estimateCost({ ...asked, principal, routing }).catch((error: unknown) => {
        throw isWrapped && error instanceof AppError ? error.renamed((field) => `request.${field}`) : error;
      });
      return success(presentEstimate(estimate), undefined, { model: estimate.model });
    }),
  ];
}

function readWrapped(body: JsonObject): Omit<EstimateRequest, "principal" | "routing"> {
  if (!Object.hasOwn(body, "request")) throw invalid({ kind: "estimate_without_model", field: "model" });
  check(ESTIMATE_REQUEST, body);
  // The schema says so.
  return body as unknown as Omit<EstimateRequest, "principal" | "routing">;
}
