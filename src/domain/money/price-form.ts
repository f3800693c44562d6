import type { JsonObject } from "../json.ts";
import type { PriceRule } from "../model/model.ts";
import { formatAmount } from "./money.ts";

/** A price rule in the form it is written in, answered in and read back from: amounts as decimal texts, absent members left out. */
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
