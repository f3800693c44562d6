import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { PriceLine, PriceRule } from "../../src/domain/model/model.ts";
import { formatMultiplier } from "../../src/domain/money/multiplier.ts";
import type { ShownPrice, ShownRequestPrice } from "../../src/domain/money/price-form.ts";
import { PRICE_UNITS } from "../../src/domain/money/price-units.ts";
import { type AdminCalls, HARMLESS, segment } from "../client/admin.ts";
import {
  amountIn,
  countIn,
  flagIn,
  numberIn,
  objectIn,
  objectsIn,
  optionalAmountIn,
  optionalObjectIn,
  textIn,
  textsIn,
  timeIn,
  wordIn,
} from "./fields.ts";
import type { Prices } from "./port.ts";

/** The prices of a server. */
export function createRemotePrices({ get, send }: AdminCalls): Prices {
  const one = (id: string, verb = "") => `/pricing/${segment(id)}${verb}`;
  return {
    list: async () => objectsIn(await get("/pricing"), "prices").map(priceOf),
    read: async (id) => priceOf(await get(one(id))),
    schema: async (id) => objectIn(await get(`/models/${segment(id)}`), "schema"),
    async priceOf(id, parameters, multiplier) {
      const factor = multiplier === undefined ? {} : { price_multiplier: formatMultiplier(multiplier) };
      return requestPriceOf(
        await send("POST", one(id, "/quote"), { request: parameters, ...factor }, HARMLESS),
      );
    },
    async set(id, { rule, reason }) {
      // What a file holds goes as it is: the server says what is wrong with it.
      const body = { price: rule as Json, reason };
      return priceOf(await send("PATCH", one(id), body, HARMLESS));
    },
    async reset(id) {
      const form = await send("POST", one(id, "/reset"), undefined, HARMLESS);
      return { ...priceOf(form), wasSet: flagIn(form, "was_set") };
    },
  };
}

function priceOf(form: JsonObject): ShownPrice {
  return {
    model: { id: textIn(form, "model") },
    source: wordIn(form, "source", ["built_in", "settings", "set"]),
    set: form.set_at === null ? undefined : { setAt: timeIn(form, "set_at"), reason: textIn(form, "reason") },
    rule: ruleOf(objectIn(form, "price")),
    // The values of a request's fields may be anything.
    unpriced: optionalObjectIn(form, "unpriced") as ShownPrice["unpriced"],
  };
}

function ruleOf(form: JsonObject): PriceRule {
  return {
    version: textIn(form, "version"),
    lines: objectsIn(form, "lines").map(lineOf),
    minimumMicros: optionalAmountIn(form, "minimum"),
  };
}

function lineOf(form: JsonObject): PriceLine {
  return {
    sku: textIn(form, "sku"),
    unit: wordIn(form, "unit", PRICE_UNITS),
    unitMicros: amountIn(form, "amount"),
    per: form.per === undefined ? undefined : countIn(form, "per"),
    most: form.most === undefined ? undefined : countIn(form, "most"),
    // The values of parameters may be anything.
    when: optionalObjectIn(form, "when") as PriceLine["when"],
  };
}

function requestPriceOf(form: JsonObject): ShownRequestPrice {
  const status = wordIn(form, "status", ["exact", "range", "needs_input", "unpriced"]);
  const isPriced = status === "exact" || status === "range";
  return {
    kind: isPriced ? "priced" : status,
    lines: objectsIn(form, "line_items").map((line) => ({
      sku: textIn(line, "sku"),
      unit: textIn(line, "unit"),
      quantity: numberIn(line, "quantity"),
      unitMicros: amountIn(line, "unit_price"),
      per: line.per === undefined ? undefined : countIn(line, "per"),
      amount: amountIn(line, "amount"),
      detail: textIn(line, "detail"),
    })),
    cost: isPriced ? { least: amountIn(form, "min_cost"), most: amountIn(form, "max_cost") } : undefined,
    missing: textsIn(form, "missing"),
  };
}
