import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { requestPriceForm, shownPriceForm } from "../../../domain/money/price-form.ts";
import type { ManagePricesAs } from "../../../service/manage-prices.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { multiplierOf } from "../fields.ts";
import { PRICE_CHANGE, PRICING, QUOTE_REQUEST } from "./wire.ts";

type QuoteBody = { request?: JsonObject; price_multiplier?: string };

/** /admin/v1/pricing. */
export function managedPriceEndpoints(pricesAs: ManagePricesAs): Endpoint[] {
  return [
    managed("GET", "/admin/v1/pricing", PRICING.list, async ({ operator }) =>
      success({ prices: (await pricesAs(operator).list()).map(shownPriceForm) }),
    ),
    managed("GET", "/admin/v1/pricing/:model", PRICING.read, async ({ operator, param }) =>
      success(shownPriceForm(await pricesAs(operator).read(param("model")))),
    ),
    managed("PATCH", "/admin/v1/pricing/:model", PRICING.update, async (exchange) => {
      const { price, reason } = await readBody<{ price: unknown; reason?: string }>(exchange, PRICE_CHANGE);
      const set = pricesAs(exchange.operator).set(exchange.param("model"), { rule: price, reason });
      return success(shownPriceForm(await set.catch(inBody)));
    }),
    managed("POST", "/admin/v1/pricing/:model/reset", PRICING.reset, async ({ operator, param }) => {
      const { wasSet, ...price } = await pricesAs(operator).reset(param("model"));
      return success({ ...shownPriceForm(price), was_set: wasSet });
    }),
    managed("POST", "/admin/v1/pricing/:model/quote", PRICING.quote, async (exchange) => {
      const { request = {}, price_multiplier: factor } = await readBody<QuoteBody>(exchange, QUOTE_REQUEST);
      const multiplier = factor === undefined ? undefined : multiplierOf("price_multiplier", factor);
      const quoted = await pricesAs(exchange.operator).priceOf(exchange.param("model"), request, multiplier);
      return success(requestPriceForm(quoted, multiplier));
    }),
  ];
}

/** Names the fields of a rule as they appear in the body. @throws the error that it gets */
function inBody(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "invalid_request") throw error;
  throw error.renamed((field) => {
    if (field === "reason") return field;
    return field === "" ? "price" : `price.${field}`;
  });
}
