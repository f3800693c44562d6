import type { Json } from "../../src/domain/json.ts";
import type { PriceLine, PriceRule } from "../../src/domain/model/model.ts";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import type { ShownPrice, ShownRequestPrice } from "../../src/domain/money/price-form.ts";
import { unitFacts } from "../../src/domain/money/price-units.ts";
import type { Output } from "./output.ts";
import { column, type Field } from "./table.ts";
import { formatTime } from "./units.ts";

const LINE_COLUMNS = [
  column.text("LINE"),
  column.number("AMOUNT"),
  column.number("UNIT PRICE", 2),
  column.word("QUANTITY", 1),
];

/** Where a price comes from, for people. */
export const SOURCES = { built_in: "manifest", settings: "svc.yaml", set: "set" } as const;

export function fieldsOf({ model, rule, source, set, unpriced }: ShownPrice): Field[] {
  return [
    ["model", model.id],
    ["source", SOURCES[source]],
    ["set", set && [formatTime(set.setAt), set.reason].filter((text) => text !== "").join(", ")],
    ["version", rule.version],
    ...ruleInWords(rule).map((line): Field => ["price", line]),
    [
      "minimum",
      rule.minimumMicros === undefined ? undefined : `${formatAmount(rule.minimumMicros)} ${CURRENCY}`,
    ],
    ["refused", unpriced && `requests with ${requestInWords(unpriced)}, for want of a price`],
  ];
}

/** Lists what a request holds, line by line, and the sum. */
export async function requestText(
  { kind, lines, cost, missing }: ShownRequestPrice,
  output: Output,
): Promise<string> {
  if (cost === undefined) {
    return kind === "needs_input"
      ? `\nThe price depends on ${missing.join(", ")}; give it with -i.\n`
      : "\nSuch a request has no price, and is refused.\n";
  }
  const rows = [
    ...lines.map((line) => [line.sku, formatAmount(line.amount), formatAmount(line.unitMicros), line.detail]),
    [
      "total",
      formatAmount(cost.most),
      "",
      cost.least === cost.most ? "" : `at least ${formatAmount(cost.least)}`,
    ],
  ];
  return `\n${await output.table(LINE_COLUMNS, rows)}`;
}

export function requestInWords(parameters: { readonly [name: string]: Json }): string {
  const names = Object.keys(parameters);
  if (names.length === 0) return "nothing but what must be given";
  return names.map((name) => `${name} ${JSON.stringify(parameters[name])}`).join(", ");
}

/** Describes the lines of a rule: `0.020000 USD per second at resolution 360p`. */
export function ruleInWords({ lines }: PriceRule): string[] {
  return lines.map(
    (line) =>
      `${formatAmount(line.unitMicros)} ${CURRENCY} per ${unitInWords(line)}${conditionInWords(line)}`,
  );
}

function unitInWords({ unit, per, most }: PriceLine): string {
  const { noun } = unitFacts(unit);
  const units = per === undefined ? noun : `${per.toLocaleString("en-US")} ${noun}s`;
  return most === undefined ? units : `${units} (at most ${most.toLocaleString("en-US")})`;
}

function conditionInWords({ when }: PriceLine): string {
  if (when === undefined) return "";
  const values = (value: Json | undefined) => [value].flat(1).map(String).join(" or ");
  return ` at ${Object.entries(when)
    .map(([name, value]) => `${name} ${values(value)}`)
    .join(", ")}`;
}
