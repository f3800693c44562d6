import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { needsText } from "../../src/domain/model/availability.ts";
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
    text(model.id),
    text(model.kind),
    text(model.name),
    texts(model.modes),
    pricesOf(model).join(", "),
    statusOf(model),
  ];
}

export function modelFields(model: JsonObject): Field[] {
  return [
    ["model", text(model.id)],
    ["kind", text(model.kind)],
    ["name", text(model.name)],
    ["about", text(model.description)],
    ["modes", texts(model.modes)],
    ...(model.file === undefined ? [] : [["file", text(model.file)] satisfies Field]),
    ...pricesOf(model).map((price): Field => ["price", price]),
    ["status", statusOf(model)],
    ...routesOf(model).map(
      ({ provider, upstreamModel, needs, refused }): Field => [
        "route",
        [
          `${provider} ${upstreamModel}`,
          ...(needs.length === 0 ? [] : [`needs ${needs.join(" and ")}`]),
          ...(refused === "" ? [] : [`refused: ${refused}`]),
        ].join(", "),
      ],
    ),
    ...stepOf(model),
  ];
}

function statusOf(model: JsonObject): string {
  const isUsable = ({ needs }: { needs: readonly string[] }) => needs.length === 0;
  if (model.available !== false) {
    const refusing = routesOf(model).filter((route) => isUsable(route) && route.refused !== "");
    return refusing.length === 0
      ? "ready"
      : `refused by ${refusing.map(({ provider }) => provider).join(", ")}`;
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
      ? `The server's operator sees what is missing with \`svc models show ${text(model.id)} --data-dir DIR\`.`
      : `Set ${needs} for \`svc serve\`, and start it again.`;
  return [["to do", step]];
}

function routesOf({ routes }: JsonObject) {
  return (Array.isArray(routes) ? routes : []).filter(isJsonObject).map((route) => ({
    provider: text(route.provider),
    upstreamModel: text(route.upstream_model),
    needs: Array.isArray(route.needs) ? route.needs.map(String) : [],
    refused: text(route.refused),
  }));
}

function pricesOf(model: JsonObject): string[] {
  const { lines, currency, minimum, multiplier } = isJsonObject(model.price) ? model.price : {};
  if (!Array.isArray(lines)) return [];
  const priced = lines.filter(isJsonObject).map((line) => {
    const when = isJsonObject(line.when)
      ? ` at ${Object.entries(line.when)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", ")}`
      : "";
    const many = typeof line.per === "number" ? `${line.per} × ` : "";
    const unit = text(line.unit).replace("_", " ");
    return `${text(line.amount)} ${text(currency)} per ${many}${unit}${when}`;
  });
  return [
    ...priced,
    ...(minimum === undefined ? [] : [`at least ${text(minimum)} ${text(currency)}`]),
    ...(multiplier === undefined ? [] : [`times ${text(multiplier)} for this key`]),
  ];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): string {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").join(", ") : text(value);
}
