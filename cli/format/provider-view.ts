import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { objectsOf, textOf } from "../client/lenient.ts";
import { troubleText } from "./standing-view.ts";
import { column, type Field } from "./table.ts";

export const PROVIDER_COLUMNS = [
  ...[column.id("ID"), column.word("KIND", 2), column.text("STATE"), column.text("ACCOUNTS", 1)],
  column.text("MODELS", 3),
];

export function providerRow(provider: JsonObject): string[] {
  const accounts = objectsOf(provider.accounts).map(({ name }) => textOf(name));
  return [
    textOf(provider.id),
    kindOf(provider),
    stateOf(provider),
    accounts.join(", "),
    texts(provider.models).join(", "),
  ];
}

function kindOf(provider: JsonObject): string {
  const isOwn = isJsonObject(provider.form) && provider.form.own === true;
  return isOwn ? "own form" : textOf(provider.kind);
}

function stateOf({ available, needs }: JsonObject): string {
  return available === true ? "on" : `needs ${texts(needs).join(" and ")}`;
}

/** All that is known of one provider, a line each. */
export function providerFields(provider: JsonObject): Field[] {
  const { form } = provider;
  const file = isJsonObject(form) ? form.file : undefined;
  return [
    ["provider", textOf(provider.id)],
    ["title", textOf(provider.title)],
    ["kind", kindOf(provider)],
    ["file", file === undefined ? undefined : `providers/${textOf(file)}`],
    ...texts(provider.problems).map((problem): Field => ["problem", problem]),
    ["state", stateOf(provider)],
    ...objectsOf(provider.accounts).map((account): Field => ["account", accountText(account)]),
    ...factFields(isJsonObject(provider.facts) ? provider.facts : {}),
    ...objectsOf(provider.routes).map((route): Field => ["model", routeText(route, textOf(provider.id))]),
  ];
}

function accountText({ name, lane, region, base_url, concurrency }: JsonObject): string {
  return [
    textOf(name),
    ...(lane === name ? [] : [`lane ${textOf(lane)}`]),
    ...(region === undefined ? [] : [`region ${textOf(region)}`]),
    ...(base_url === undefined ? [] : [`at ${textOf(base_url)}`]),
    ...(concurrency === undefined ? [] : [`${String(concurrency)} at a time`]),
  ].join(", ");
}

function factFields(facts: JsonObject): Field[] {
  const { base, regions, origins, media, auth, limits, flows, refusals, test } = facts;
  const joined = (given: unknown) => texts(given).join(", ") || undefined;
  return [
    ["base", base === undefined ? undefined : textOf(base)],
    ...pairs(regions).map(([name, url]): Field => ["region", `${name}: ${url}`]),
    ["origins", joined(origins)],
    ["files at", joined(media)],
    ...objectsOf(auth).map((kind): Field => ["key", keyText(kind)]),
    ...pairs(limits).map(([name, value]): Field => ["limit", `${name.replaceAll("_", " ")}: ${value}`]),
    ...objectsOf(flows).map(
      (flow): Field => ["flow", `${textOf(flow.name)}: ${texts(flow.operations).join(", ")}`],
    ),
    ["refusals", joined(refusals)],
    ["test", test === undefined ? undefined : test === true ? "yes" : "none"],
  ];
}

function keyText({ kind, variables }: JsonObject): string {
  const names = texts(variables);
  return names.length === 0 ? textOf(kind) : `${textOf(kind)}, from ${names.join(" and ")}`;
}

function routeText({ model, upstream_model, troubles }: JsonObject, provider: string): string {
  const name = upstream_model === model ? textOf(model) : `${textOf(model)} as ${textOf(upstream_model)}`;
  return [name, ...objectsOf(troubles).map((trouble) => troubleText(trouble, provider))].join(", ");
}

export const TEST_COLUMNS = [
  ...[column.id("PROVIDER"), column.text("ACCOUNT", 2), column.word("RESULT")],
  ...[column.number("MS", 3), column.number("BALANCE", 1), column.text("DETAIL")],
];

export function testRow(test: JsonObject): string[] {
  const { balance, balance_usd, took_ms } = test;
  const left =
    balance_usd !== undefined ? `${textOf(balance_usd)} USD` : balance === undefined ? "" : String(balance);
  return [
    textOf(test.provider),
    textOf(test.account),
    textOf(test.result),
    String(took_ms),
    left,
    textOf(test.detail),
  ];
}

function pairs(value: unknown): [string, string][] {
  return isJsonObject(value) ? Object.entries(value).map(([name, each]) => [name, String(each)]) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
