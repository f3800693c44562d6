import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { isAccountName } from "../../domain/lane.ts";
import { suggest } from "../../domain/suggest.ts";
import { ON_UNKNOWN, type OnUnknown } from "../../domain/task/routing.ts";
import { apiUrl, integer, number, oneOf, type Parser, proxyUrl } from "../../toolkit/settings/parsers.ts";
import type { Secret } from "../../toolkit/settings/secret.ts";
import { type ConfigProblem, show } from "../problem.ts";
import { type AccountProvider, addCommand, hasAccounts, settingOf, variableOfSecret } from "./provider.ts";

/** The variables or files that hold the secrets of an account: one for the only secret, or one for each by its name. */
export type Places = string | Readonly<Record<string, string>>;

/** An account as the settings file has it. Its values have the right form; what they name was not checked. */
export interface AccountEntry {
  readonly name: string;
  /** The file and the place in it. */
  readonly where: string;
  /** A key stands in it, which is refused. */
  readonly hasKey: boolean;
  readonly keyEnv?: Places | undefined;
  readonly keyFile?: Places | undefined;
  readonly baseUrl?: string | undefined;
  readonly region?: string | undefined;
  readonly concurrency?: number | undefined;
  readonly submitsPerMinute?: number | undefined;
  readonly pollsPerSecond?: number | undefined;
  /** Its address may hold a password. */
  readonly proxy?: Secret | undefined;
  readonly onUnknown?: OnUnknown | undefined;
}

const FIELDS = [
  ...["name", "key_env", "key_file", "base_url", "region", "concurrency"],
  ...["submits_per_minute", "polls_per_second", "proxy", "on_unknown"],
] as const;
const CONCURRENCY = integer(1, 10_000);
const SUBMITS_PER_MINUTE = number(0.001, 1_000_000);
const POLLS_PER_SECOND = number(0.001, 10_000);
/** Names under which people write a key itself. */
const LITERAL_KEY = /^(api_?)?(key|token|secret|password|credentials?)$|_(key|secret|token|password)$/;

/**
 * What to say of a name that stands beside a provider's settings and is a key, or belongs to one of its accounts. Both are what other
 * programs' files have there.
 *
 * @returns undefined for a name that is neither
 */
export function misplacedBesideAccounts(provider: AccountProvider, name: string): string | undefined {
  if (!hasAccounts(provider)) return undefined;
  if (isKeyName(provider, name)) {
    const variables = provider.kinds.flat().flatMap((each) => variableOfSecret(provider, each) ?? []);
    const by = `${variables.length === 1 ? "a variable" : "variables"} (${[...new Set(variables)].join(", ")})`;
    const set = variables.length === 0 ? "" : `give it by ${by}, or `;
    return `a key does not belong in this file; ${set}keep it sealed: ${addCommand(provider.id, "default")}`;
  }
  if (!FIELDS.some((field) => field === name)) return undefined;
  return `belongs to an account, such as accounts: [{name: default, ${name}: …}]`;
}

function isKeyName(provider: AccountProvider, name: string): boolean {
  return LITERAL_KEY.test(name) || provider.kinds.some((kind) => kind.includes(name));
}

/** Reads the accounts of a provider in a settings file. */
export function readEntries(
  raw: unknown,
  where: string,
  provider: AccountProvider,
  problems: ConfigProblem[],
): AccountEntry[] {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) {
    const message = `must be a list of accounts, such as [{name: main, key_env: MAIN_KEY}]`;
    problems.push({ where, message });
    return [];
  }
  const entries = raw.flatMap((each, i) => readEntry(each, `${where}[${i}]`, provider, problems) ?? []);
  entries.forEach(({ name, where: second }, i) => {
    const first = entries.findIndex((each) => each.name === name);
    if (first === i) return;
    const message = `is "${name}", and so is another one before it; give each account a name of its own`;
    problems.push({ where: `${second}.name`, message });
  });
  return entries;
}

function readEntry(
  raw: unknown,
  where: string,
  provider: AccountProvider,
  problems: ConfigProblem[],
): AccountEntry | undefined {
  if (!isJsonObject(raw)) {
    // It may be a key.
    problems.push({ where, message: "must be an account, such as {name: main, key_env: MAIN_KEY}" });
    return undefined;
  }
  const { name } = raw;
  const isNamed = typeof name === "string" && isAccountName(name);
  if (!isNamed) {
    const message = `must be up to 32 lower-case letters, digits, - and _, got ${show(name ?? null)}`;
    problems.push({ where: `${where}.name`, message });
  }
  const hasKey = refuseOthers(raw, where, { provider, name: isNamed ? name : "NAME" }, problems);
  const read = <T>(field: string, parse: Parser<T>): T | undefined => {
    const given = raw[field];
    if (given === undefined || given === null) return undefined;
    const parsed = parse(given);
    if (parsed.ok) return parsed.value;
    const got = parse === proxyUrl ? "" : `, got ${show(given)}`;
    problems.push({ where: `${where}.${field}`, message: `must be ${parsed.expected}${got}` });
    return undefined;
  };
  const { table } = provider;
  const own = (setting: string, otherwise: string): Parser<string> =>
    // Settings of these names hold texts.
    (settingOf(table, setting)?.parse as Parser<string> | undefined) ??
    (() => ({ ok: false, expected: otherwise }));
  const entry = {
    ...{ name: isNamed ? name : "", where, hasKey },
    keyEnv: places(raw.key_env, `${where}.key_env`, "a variable, such as MAIN_KEY", problems),
    keyFile: places(raw.key_file, `${where}.key_file`, "a file", problems),
    baseUrl: read("base_url", own("baseUrl", `left out: ${provider.id} has no address`)),
    region: read("region", own("region", `left out: ${provider.id} has no regions`)),
    concurrency: read("concurrency", CONCURRENCY),
    submitsPerMinute: read("submits_per_minute", SUBMITS_PER_MINUTE),
    pollsPerSecond: read("polls_per_second", POLLS_PER_SECOND),
    proxy: read("proxy", proxyUrl),
    onUnknown: read("on_unknown", oneOf(ON_UNKNOWN)),
  };
  if (entry.keyEnv !== undefined && entry.keyFile !== undefined)
    problems.push({ where, message: "has key_env and key_file; leave out one of them" });
  return isNamed ? entry : undefined;
}

/** What an entry should have, as JSON Schema. */
export function accountSchema(): JsonObject {
  const places = { type: ["string", "object"] };
  const properties = {
    name: { type: "string", description: "its name; default is the account of the customary variable" },
    key_env: {
      ...places,
      description: "the variable that holds its key, or one for each secret by its name",
    },
    key_file: { ...places, description: "the file that holds its key, or one for each secret by its name" },
    base_url: { ...apiUrl.schema, description: "address of the API, or another origin for it" },
    region: { type: "string", description: "where its tasks are made" },
    concurrency: { ...CONCURRENCY.schema, description: "most tasks at one time" },
    submits_per_minute: { ...SUBMITS_PER_MINUTE.schema, description: "most tasks submitted in a minute" },
    polls_per_second: { ...POLLS_PER_SECOND.schema, description: "most questions in a second" },
    proxy: { ...proxyUrl.schema, description: "proxy for its requests" },
    on_unknown: { ...oneOf(ON_UNKNOWN).schema, description: "what becomes of a task whose answer was lost" },
  } satisfies Record<(typeof FIELDS)[number], object>;
  // Schemas of parsers are JSON.
  return {
    type: "object",
    additionalProperties: false,
    required: ["name"],
    properties,
  } as unknown as JsonObject;
}

/**
 * Refuses fields that an account does not have. Shows nothing of their values, because one may be a key. @returns whether one of
 * them is a key
 */
function refuseOthers(
  raw: Readonly<Record<string, unknown>>,
  where: string,
  { provider, name }: { readonly provider: AccountProvider; readonly name: string },
  problems: ConfigProblem[],
): boolean {
  let hasKey = false;
  for (const field of Object.keys(raw)) {
    if (FIELDS.some((known) => known === field)) continue;
    const isKey = isKeyName(provider, field);
    hasKey ||= isKey;
    const message = isKey
      ? `a key does not belong in this file; name a variable (key_env) or a file (key_file) that holds it, or keep it sealed: ${addCommand(provider.id, name)}`
      : "is nothing that an account has";
    const suggestion = isKey ? undefined : suggest(field, FIELDS);
    problems.push({ where: `${where}.${field}`, message, suggestion });
  }
  return hasKey;
}

/** Reads names of variables or files. Shows nothing of what is none: it may be a key. */
function places(raw: unknown, where: string, what: string, problems: ConfigProblem[]): Places | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw === "string" && raw.trim() !== "") return raw.trim();
  if (isJsonObject(raw) && Object.keys(raw).length > 0) {
    const isNamed = (each: unknown): each is string => typeof each === "string" && each.trim() !== "";
    if (Object.values(raw).every(isNamed)) return raw as Readonly<Record<string, string>>;
  }
  problems.push({ where, message: `must name ${what}, or one for each secret by its name` });
  return undefined;
}
