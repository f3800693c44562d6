import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { troubleText } from "./standing-view.ts";
import { column, type Field } from "./table.ts";

export const PROVIDER_COLUMNS = [
  ...[column.id("ID"), column.word("KIND", 2), column.text("STATE"), column.text("ACCOUNTS", 1)],
  column.text("MODELS", 3),
];

export function providerRow(provider: JsonObject): string[] {
  const accounts = objects(provider.accounts).map(({ name }) => text(name));
  return [
    text(provider.id),
    kindOf(provider),
    stateOf(provider),
    accounts.join(", "),
    texts(provider.models).join(", "),
  ];
}

function kindOf(provider: JsonObject): string {
  const isOwn = isJsonObject(provider.form) && provider.form.own === true;
  return isOwn ? "own form" : text(provider.kind);
}

function stateOf({ available, needs }: JsonObject): string {
  return available === true ? "on" : `needs ${texts(needs).join(" and ")}`;
}

/** All that is known of one provider, a line each. */
export function providerFields(provider: JsonObject): Field[] {
  const { form } = provider;
  const file = isJsonObject(form) ? form.file : undefined;
  return [
    ["provider", text(provider.id)],
    ["title", text(provider.title)],
    ["kind", kindOf(provider)],
    ["file", file === undefined ? undefined : `providers/${text(file)}`],
    ...texts(provider.problems).map((problem): Field => ["problem", problem]),
    ["state", stateOf(provider)],
    ...objects(provider.accounts).map((account): Field => ["account", accountText(account)]),
    ...factFields(isJsonObject(provider.facts) ? provider.facts : {}),
    ...objects(provider.routes).map((route): Field => ["model", routeText(route, text(provider.id))]),
  ];
}

function accountText({ name, lane, region, base_url, concurrency }: JsonObject): string {
  return [
    text(name),
    ...(lane === name ? [] : [`lane ${text(lane)}`]),
    ...(region === undefined ? [] : [`region ${text(region)}`]),
    ...(base_url === undefined ? [] : [`at ${text(base_url)}`]),
    ...(concurrency === undefined ? [] : [`${String(concurrency)} at a time`]),
  ].join(", ");
}

function factFields(facts: JsonObject): Field[] {
  const { base, regions, origins, media, auth, limits, flows, refusals, test } = facts;
  const joined = (given: unknown) => texts(given).join(", ") || undefined;
  return [
    ["base", base === undefined ? undefined : text(base)],
    ...pairs(regions).map(([name, url]): Field => ["region", `${name}: ${url}`]),
    ["origins", joined(origins)],
    ["files at", joined(media)],
    ...objects(auth).map((kind): Field => ["key", keyText(kind)]),
    ...pairs(limits).map(([name, value]): Field => ["limit", `${name.replaceAll("_", " ")}: ${value}`]),
    ...objects(flows).map(
      (flow): Field => ["flow", `${text(flow.name)}: ${texts(flow.operations).join(", ")}`],
    ),
    ["refusals", joined(refusals)],
    ["test", test === undefined ? undefined : test === true ? "yes" : "none"],
  ];
}

function keyText({ kind, variables }: JsonObject): string {
  const names = texts(variables);
  return names.length === 0 ? text(kind) : `${text(kind)}, from ${names.join(" and ")}`;
}

function routeText({ model, upstream_model, troubles }: JsonObject, provider: string): string {
  const name = upstream_model === model ? text(model) : `${text(model)} as ${text(upstream_model)}`;
  return [name, ...objects(troubles).map((trouble) => troubleText(trouble, provider))].join(", ");
}

export const TEST_COLUMNS = [
  ...[column.id("PROVIDER"), column.text("ACCOUNT", 2), column.word("RESULT")],
  ...[column.number("MS", 3), column.number("BALANCE", 1), column.text("DETAIL")],
];

export function testRow(test: JsonObject): string[] {
  const { balance, balance_usd, took_ms } = test;
  const left =
    balance_usd !== undefined ? `${text(balance_usd)} USD` : balance === undefined ? "" : String(balance);
  return [
    text(test.provider),
    text(test.account),
    text(test.result),
    String(took_ms),
    left,
    text(test.detail),
  ];
}

function pairs(value: unknown): [string, string][] {
  return isJsonObject(value) ? Object.entries(value).map(([name, each]) => [name, String(each)]) : [];
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
