import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { objectsOf } from "../client/lenient.ts";
import type { Output } from "./output.ts";
import { column, type Field, renderFields } from "./table.ts";
import { formatDuration } from "./units.ts";

/** What a request would cost, as the server says it. */
export type Estimate = JsonObject & {
  readonly status: string;
  readonly currency: string;
  readonly min_cost: string | undefined;
  readonly max_cost: string | undefined;
};

const LINE_COLUMNS = [
  column.text("LINE"),
  column.number("AMOUNT"),
  column.number("UNIT PRICE", 2),
  column.text("QUANTITY", 1),
];
const ROUTE_COLUMNS = [column.text("ROUTE"), column.number("AT MOST")];
const LIMITS: Readonly<Record<string, string>> = {
  balance: "no: the account's balance is too small",
  key_quota: "no: the key's quota is too small",
};

export function estimateOf(answer: JsonObject): Estimate {
  const { status, currency, min_cost: least, max_cost: most } = answer;
  return {
    ...answer,
    status: textOf(status) ?? "unknown",
    currency: textOf(currency) ?? "USD",
    min_cost: textOf(least),
    max_cost: textOf(most),
  };
}

/** `~0.04 USD`, `0.006 to 0.211 USD`; undefined where there is no price. */
export function costInWords({ min_cost: least, max_cost: most, currency }: Estimate): string | undefined {
  if (most === undefined) return undefined;
  const range = least === undefined || least === most ? "~" : `${shortAmount(least)} to `;
  return `${range}${shortAmount(most)} ${currency}`;
}

/** Tells an estimate for people: what it comes to, of what, and what it rests on. */
export async function estimateText(estimate: Estimate, output: Output): Promise<string> {
  const items = objectsOf(estimate.line_items);
  const rows = items.map((item) => [
    String(item.sku ?? ""),
    String(item.amount ?? ""),
    String(item.unit_price ?? ""),
    textOf(item.detail) ?? String(item.quantity ?? ""),
  ]);
  const routes = objectsOf(estimate.routes).map(({ route, max_cost: most }) => [
    String(route ?? ""),
    textOf(most) ?? "",
  ]);
  const parts = [
    renderFields(fieldsOf(estimate), output),
    ...(rows.length === 0 ? [] : [await output.table(LINE_COLUMNS, rows)]),
    ...(routes.length === 0 ? [] : [await output.table(ROUTE_COLUMNS, routes)]),
  ];
  return parts.join("\n");
}

function fieldsOf(estimate: Estimate): Field[] {
  const { quantity, missing, affordable, limited_by: limitedBy, assumptions } = estimate;
  const lacking = Array.isArray(missing) ? missing.map(String) : [];
  const assumed = objectsOf(assumptions).map(
    ({ field, value }) => `${String(field)} ${JSON.stringify(value)}`,
  );
  return [
    ["model", textOf(estimate.model)],
    [
      "cost",
      costInWords(estimate) ??
        (estimate.status === "unpriced" ? "none: such a request has no price" : "not known yet"),
    ],
    ["requests", typeof quantity === "number" && quantity > 1 ? String(quantity) : undefined],
    ["assumed", assumed.length === 0 ? undefined : assumed.join(", ")],
    ["missing", lacking.length === 0 ? undefined : lacking.join(", ")],
    [
      "affordable",
      typeof affordable === "boolean"
        ? affordable
          ? "yes"
          : (LIMITS[String(limitedBy)] ?? "no")
        : undefined,
    ],
    ["usually takes", durationOf(estimate)],
  ];
}

function durationOf({ estimated_seconds: seconds }: Estimate): string | undefined {
  if (!isJsonObject(seconds)) return undefined;
  const { p50, p90 } = seconds;
  if (typeof p50 !== "number" || typeof p90 !== "number") return undefined;
  return `${formatDuration(p50 * 1000)}, nine of ten at most ${formatDuration(p90 * 1000)}`;
}

/** At least two decimals, and no zeros after them. */
function shortAmount(amount: string): string {
  return amount.replace(/(\.\d\d\d*?)0+$/, "$1");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
