import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { needsText } from "../../src/domain/model/availability.ts";
import { objectsOf, textOf } from "../client/lenient.ts";
import { stateText, troubleText } from "./standing-view.ts";
import { column, type Field } from "./table.ts";

export const MODEL_COLUMNS = [
  ...[
    column.id("MODEL"),
    column.word("KIND", 2),
    column.text("NAME", 4),
    column.text("MODES", 3),
    column.text("PRICE", 1),
    column.text("STATUS"),
  ],
];

export function modelRow(model: JsonObject): string[] {
  return [
    textOf(model.id),
    textOf(model.kind),
    textOf(model.name),
    texts(model.modes),
    priceRangesOf(model).join(", "),
    statusOf(model),
  ];
}

export function modelFields(model: JsonObject): Field[] {
  return [
    ["model", textOf(model.id)],
    ["kind", textOf(model.kind)],
    ["name", textOf(model.name)],
    ["about", textOf(model.description)],
    ["modes", texts(model.modes)],
    ...(model.file === undefined ? [] : [["file", textOf(model.file)] satisfies Field]),
    ...pricesOf(model).map((price): Field => ["price", price]),
    ["status", statusOf(model)],
    ...routesOf(model).map(
      ({ provider, upstreamModel, needs, troubles }): Field => [
        "route",
        [
          `${provider} ${upstreamModel}`,
          ...(needs.length === 0 ? [] : [`needs ${needs.join(" and ")}`]),
          ...troubles.map((trouble) => troubleText(trouble, provider)),
        ].join(", "),
      ],
    ),
    ...stepOf(model),
  ];
}

function statusOf(model: JsonObject): string {
  const isUsable = ({ needs }: { needs: readonly string[] }) => needs.length === 0;
  if (model.available !== false) {
    const shut = routesOf(model).filter((route) => isUsable(route) && route.isShut);
    return shut.length === 0 ? "ready" : shut.map(shutText).join(", ");
  }
  const needs = needsText(routesOf(model));
  return needs === "" ? "not available" : `needs ${needs}`;
}

/** Says what makes the model available. Only operators see the routes, and so what to set. */
function stepOf(model: JsonObject): Field[] {
  const needs = needsText(routesOf(model));
  if (model.available !== false) return [];
  const step =
    needs === ""
      ? `The server's operator sees what is missing with \`svc models show ${textOf(model.id)} --data-dir DIR\`.`
      : `Set ${needs} for \`svc serve\`, and start it again.`;
  return [["to do", step]];
}

function routesOf({ routes }: JsonObject) {
  return objectsOf(routes).map((route) => ({
    provider: textOf(route.provider),
    upstreamModel: textOf(route.upstream_model),
    needs: Array.isArray(route.needs) ? route.needs.map(String) : [],
    isShut: route.shut === true,
    troubles: objectsOf(route.troubles),
  }));
}

/** `refused by fal`, `blocked at fal`; of a route whose accounts differ, `refused or blocked at fal`. */
function shutText({ provider, troubles }: { provider: string; troubles: readonly JsonObject[] }): string {
  const states = [...new Set(troubles.map(({ state }) => stateText(state)))];
  const isRefused = states.length === 1 && states[0] === "refused";
  return `${states.join(" or ")} ${isRefused ? "by" : "at"} ${provider}`;
}

function pricesOf(model: JsonObject): string[] {
  const { currency, ...terms } = priceOf(model);
  return [
    ...linesOf(model).map(
      (line) => `${textOf(line.amount)} ${currency} per ${unitOf(line)}${conditionOf(line)}`,
    ),
    ...termsOf(terms, currency),
  ];
}

/** The price of a unit from the cheapest request to the most expensive, instead of each line with its condition. */
function priceRangesOf(model: JsonObject): string[] {
  const { currency, ...terms } = priceOf(model);
  const ranges = [...Map.groupBy(linesOf(model), unitOf)].map(([unit, lines]) => {
    const amounts = lines.map(({ amount }) => textOf(amount)).sort((a, b) => Number(a) - Number(b));
    const [least, most] = [amounts[0], amounts.at(-1)];
    return `${least === most ? least : `${least} to ${most}`} ${currency} per ${unit}`;
  });
  return [...ranges, ...termsOf(terms, currency)];
}

function priceOf({ price }: JsonObject) {
  const { currency, minimum, multiplier } = isJsonObject(price) ? price : {};
  return { currency: textOf(currency), minimum, multiplier };
}

function linesOf({ price }: JsonObject): JsonObject[] {
  return isJsonObject(price) ? objectsOf(price.lines) : [];
}

function unitOf({ unit, per }: JsonObject): string {
  return `${typeof per === "number" ? `${per} × ` : ""}${textOf(unit).replace("_", " ")}`;
}

function conditionOf({ when }: JsonObject): string {
  if (!isJsonObject(when)) return "";
  const values = (value: Json | undefined) => [value].flat(1).map(String).join(" or ");
  return ` at ${Object.entries(when)
    .map(([name, value]) => `${name} ${values(value)}`)
    .join(", ")}`;
}

function termsOf(
  { minimum, multiplier }: { minimum?: unknown; multiplier?: unknown },
  currency: string,
): string[] {
  return [
    ...(minimum === undefined ? [] : [`at least ${textOf(minimum)} ${currency}`]),
    ...(multiplier === undefined ? [] : [`times ${textOf(multiplier)} for this key`]),
  ];
}

function texts(value: unknown): string {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").join(", ") : textOf(value);
}
