import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { stateText } from "./standing-view.ts";
import { column, type Field } from "./table.ts";

export const ROUTE_COLUMNS = [
  ...[column.id("ACCOUNT"), column.id("UPSTREAM MODEL"), column.word("STATE"), column.word("UNTIL", 1)],
  ...[column.number("PER MIN", 5), column.number("UNDER WAY", 4), column.number("P50 S", 6)],
  ...[column.number("P95 S", 7), column.number("OK", 3), column.number("TODAY", 5), column.text("DETAIL", 2)],
];

export function routeRow(route: JsonObject): string[] {
  return [
    ...[text(route.lane), text(route.upstream_model), stateText(route.state), timeOf(route.until)],
    ...[numberOf(route.per_minute), underWay(route), seconds(route.p50_ms), seconds(route.p95_ms)],
    ...[shareOf(route.success), text(route.spent_today), text(route.detail)],
  ];
}

export function explainedFields(explained: JsonObject): Field[] {
  const { model, mode, policy, policy_from, outcome } = explained;
  return [
    ["model", `${text(model)}, ${text(mode)}`],
    ["policy", `${text(policy)}, ${FROM[text(policy_from)] ?? text(policy_from)}`],
    ["outcome", OUTCOMES[text(outcome)] ?? text(outcome)],
  ];
}

const FROM: Readonly<Record<string, string>> = {
  request: "as the request says",
  key: "as its key says",
  model: "as the model says",
  default: "because nothing says otherwise",
};

const OUTCOMES: Readonly<Record<string, string>> = {
  sent: "it is sent at once",
  waits: "it waits until a way opens",
  refused: "it is refused: no way can be taken",
};

export const EXPLAINED_COLUMNS = [
  ...[column.word("VERDICT"), column.id("ACCOUNT"), column.id("UPSTREAM MODEL")],
  ...[column.number("COST", 3), column.word("UNTIL", 2), column.text("WHY")],
];

export function explainedRows({ ways }: JsonObject): string[][] {
  return (Array.isArray(ways) ? ways : [])
    .filter(isJsonObject)
    .map(({ verdict, provider, lane = provider, upstream_model, cost, until, why }) => [
      ...[stateText(verdict), text(lane), text(upstream_model), text(cost), timeOf(until), text(why)],
    ]);
}

function underWay({ under_way, concurrency }: JsonObject): string {
  return concurrency === undefined ? numberOf(under_way) : `${numberOf(under_way)}/${numberOf(concurrency)}`;
}

/** In UTC, to the second. */
function timeOf(seconds: Json | undefined): string {
  return typeof seconds === "number" ? `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z` : "-";
}

function seconds(ms: Json | undefined): string {
  return typeof ms === "number" ? (ms / 1000).toFixed(1) : "-";
}

/** Rounded down, so that only what is whole is 100%. */
function shareOf(share: Json | undefined): string {
  return typeof share === "number" ? `${Math.floor(share * 1000) / 10}%` : "-";
}

function numberOf(value: Json | undefined): string {
  return typeof value === "number" ? String(value) : "-";
}

function text(value: Json | undefined): string {
  return value === undefined ? "-" : String(value);
}
