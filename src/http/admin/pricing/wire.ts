import { MAX_PRICE_REASON_LENGTH } from "../../../service/manage-prices.ts";
import { MODEL_ID, MULTIPLIER, PRICE_RULE } from "../../models/wire.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { LINE_ITEMS } from "../../pricing/wire.ts";
import {
  closed,
  component,
  flag,
  list,
  nullable,
  openEnum,
  optional,
  requiring,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, unixSeconds } from "../../wire/values.ts";
import { contract } from "../contract.ts";

const ANY_FIELDS: Schema = { type: "object", additionalProperties: true };

export const PRICE_CHANGE = requiring(["price"], {
  price: {
    ...ANY_FIELDS,
    description: "A price rule as manifests have it: `lines`, and a `minimum` where there is one.",
  },
  reason: text("Why, for people.", { maxLength: MAX_PRICE_REASON_LENGTH }),
});

export const QUOTE_REQUEST = optional({
  request: { ...ANY_FIELDS, description: "The create body. Prompt and media may be left out." },
  price_multiplier: text("What every line, and the minimum, is charged times, as for an account or a key.", {
    pattern: "^\\d{1,4}(\\.\\d{1,6})?$",
    "x-must": "be a number above 0 and at most 1000, such as 1.25, as text with at most six decimal places",
  }),
});

const FIELDS = {
  model: text("Id of the model."),
  source: openEnum(
    ["built_in", "settings", "set"],
    "Where the price comes from: the model's manifest, `pricing` in svc.yaml, or this API.",
  ),
  set_at: nullable(unixSeconds("When it was set here.")),
  reason: nullable(text("Why it was set.")),
  price: PRICE_RULE,
  unpriced: nullable({
    ...ANY_FIELDS,
    description: "The fields of a request that has no price, and is refused; null: none is found.",
  }),
};
const PRICE = component("ManagedPrice", FIELDS);
const RESET = component("ResetPrice", {
  ...FIELDS,
  was_set: flag("Whether a price was set until now."),
});
const QUOTE = component(
  "Quote",
  {
    status: openEnum(
      ["exact", "range", "needs_input", "unpriced"],
      "As in an estimate: whether the price is known, and if not, why.",
    ),
    currency: CURRENCY_SCHEMA,
    min_cost: nullable(amount("The least.")),
    max_cost: nullable(amount("The most; what a create would hold.")),
    line_items: LINE_ITEMS,
    missing: list(text(""), { description: "Fields that decide the price and were not given." }),
    multiplier: MULTIPLIER,
  },
  { optional: ["multiplier"] },
);

const ONE = { path: { model: MODEL_ID } };

export const PRICING = {
  list: contract("listPrices", "List the price of every model", closed({ prices: list(PRICE) })),
  read: contract("readPrice", "Read the price of a model", PRICE, ONE),
  update: contract("setPrice", "Set the price of a model, from the next request on", PRICE, {
    description: "It goes before the settings file's and the built-in one. Accepted tasks keep their price.",
    ...ONE,
    body: jsonBody(PRICE_CHANGE),
  }),
  reset: contract("resetPrice", "Remove the price that was set for a model", RESET, ONE),
  quote: contract("quoteRequest", "Price a request", QUOTE, { ...ONE, body: jsonBody(QUOTE_REQUEST) }),
};
