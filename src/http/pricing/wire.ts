import { PRICE_UNITS } from "../../domain/money/price-units.ts";
import { ESTIMATE_ENDPOINTS, MAX_ESTIMATE_QUANTITY } from "../../service/estimate.ts";
import { CREATE_BODY } from "../generations/wire.ts";
import { MULTIPLIER, PER } from "../models/wire.ts";
import { contract, jsonBody, succeeds } from "../openapi/contract.ts";
import { ROUTING_HEADERS } from "../routing.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  nullable,
  openEnum,
  type Schema,
  text,
} from "../wire/schema.ts";
import { amount, CURRENCY_SCHEMA } from "../wire/values.ts";

const ENDPOINTS = Object.keys(ESTIMATE_ENDPOINTS);

/** The form of an estimate's body that names its endpoint; the other form is a create body as it is. */
export const ESTIMATE_REQUEST = component(
  "EstimateRequest",
  {
    endpoint: text("Where the request would go. Without it, where the model's tasks are created.", {
      enum: ENDPOINTS,
    }),
    request: {
      type: "object",
      description: "The body that would be sent. Prompt and media may be left out.",
      additionalProperties: true,
    },
    quantity: integer("How many such requests.", { minimum: 1, maximum: MAX_ESTIMATE_QUANTITY, default: 1 }),
  },
  { optional: ["endpoint", "quantity"] },
);

const ANY_VALUE: Schema = { description: "The value taken." };

/** The lines of a price that was calculated. */
export const LINE_ITEMS = list(
  closed(
    {
      sku: text("What is sold; `minimum` is what makes up for the least a task costs."),
      unit: openEnum([...PRICE_UNITS, "task"], "What one unit is."),
      quantity: { type: "number", minimum: 0, description: "How many units, at the most." },
      unit_price: amount("Price of one, or of `per`, before the multiplier."),
      per: PER,
      amount: amount("Price of all. The amounts of all lines add up to `max_cost`."),
      detail: nullable(text("For people.")),
    },
    { optional: ["per"] },
  ),
);

/** `data` of POST /v1/pricing/estimate. */
export const ESTIMATE = component(
  "Estimate",
  {
    model: text("Id of the model."),
    endpoint: text("Where the request would go.", { enum: ENDPOINTS }),
    quantity: integer("How many such requests.", { minimum: 1 }),
    currency: CURRENCY_SCHEMA,
    status: openEnum(
      ["exact", "range", "needs_input", "unpriced"],
      "`exact`: this is the price. `range`: it lies between `min_cost` and `max_cost`. `needs_input`: fields in `missing` decide it. `unpriced`: the model has no price for this.",
    ),
    estimated_cost: nullable(amount("What is expected. With a `range`, the most.")),
    min_cost: nullable(amount("The least.")),
    max_cost: nullable(amount("The most; what a create would hold.")),
    line_items: LINE_ITEMS,
    assumptions: list(
      closed({
        field: text("A field the request did not give."),
        value: ANY_VALUE,
        source: openEnum(
          ["default", "inferred"],
          "Where the value comes from: the model's schema, or, for the mode, what is given and what was left out.",
        ),
      }),
    ),
    missing: list(text(""), {
      description: "Fields that were not given and that the create needs, or the price with `needs_input`.",
    }),
    affordable: nullable(
      flag("Whether balance and quota suffice now. A shortage is no error here. null: there is no price."),
    ),
    limited_by: nullable(openEnum(["balance", "key_quota"], "What falls short.")),
    estimated_seconds: nullable(
      closed(
        {
          p50: { type: "number", minimum: 0, description: "Half of the tasks take no longer." },
          p90: { type: "number", minimum: 0, description: "Nine of ten take no longer." },
        },
        {
          description:
            "How long the model's latest tasks took on this server once they had started; null without enough of them.",
        },
      ),
    ),
    price_version: text("Version of the model's prices."),
    multiplier: MULTIPLIER,
    routes: list(
      closed({
        route: text("As X-Route names it."),
        max_cost: nullable(amount("The most; what a create that takes this route would hold.")),
      }),
      {
        description:
          "The routes that are switched on and can do the request, or the one that it names. Only for keys that may name routes. The price is the model's, whichever route is taken.",
      },
    ),
  },
  { optional: ["multiplier", "routes"] },
);

export const ESTIMATE_PRICE = contract("estimatePrice", "Account", "Estimate what a request would cost", {
  description:
    "Checks the request as its create would, and prices it by the same rule. Makes no task, holds nothing, calls no provider. Prompt and media may be left out.",
  headers: ROUTING_HEADERS,
  body: jsonBody({
    anyOf: [ESTIMATE_REQUEST, CREATE_BODY.image, CREATE_BODY.video],
    examples: [{ request: { model: "sandbox-image", n: 4 }, quantity: 10 }],
  }),
  answers: succeeds("The estimate.", ESTIMATE),
  errors: ["permission_denied", "model_not_available", "model_not_found"],
});
