import type { JsonObject } from "../json.ts";
import type { PriceRule } from "../model/model.ts";
import { formatAmount } from "./money.ts";

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
