import { existsSync, readFileSync } from "node:fs";
import { accountProvider, settingOf, variableOfSecret } from "../config/accounts/provider.ts";
import { nearVariables } from "../config/near-variables.ts";
import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Model } from "../domain/model/model.ts";
import { type Holdings, UnreadableSource } from "../moving/holdings.ts";
import { readConfig } from "../moving/litellm/config.ts";
import { holdingsOfLitellm } from "../moving/litellm/read.ts";
import { readDatabase, readKeyList } from "../moving/litellm/rows.ts";
import { createFindModel, createNamesAt } from "../moving/models.ts";
import { holdingsOfOneApi } from "../moving/one-api/read.ts";
import { readOneApi } from "../moving/one-api/rows.ts";
import { type Environment, holdingsOfEnvironment, readEnvFile } from "../moving/openai-env.ts";
import { openTables } from "../moving/tables/open.ts";
import type { Tables } from "../moving/tables/tables.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { isSystemError, reasonOf } from "../toolkit/system-error.ts";

/** Where another gateway is read from. */
export type ImportSource =
  | {
      readonly kind: "litellm";
      readonly config: string;
      /** The address of its database. */
      readonly database?: string | undefined;
      /** A file with the answer of its list of keys. */
      readonly keys?: string | undefined;
    }
  | { readonly kind: "new-api" | "one-api"; readonly database: string }
  /** Absent: the variables of the command itself. */
  | { readonly kind: "openai-env"; readonly file?: string | undefined };

export interface SourceDeps {
  readonly now: number;
  readonly hash: (text: string) => string;
  readonly models: readonly Model[];
  /** Their names of models, and what the operator says they stand for. */
  readonly mapped: ReadonlyMap<string, ModelId>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const MOST_BYTES = 64_000_000;

/** Reads what another gateway has, and changes nothing there. @throws UnreadableSource */
export async function readSource(source: ImportSource, deps: SourceDeps): Promise<Holdings> {
  const find = createFindModel(deps.models);
  if (source.kind === "openai-env") {
    const { file } = source;
    const environment = file === undefined ? ownVariables(deps.env) : readEnvFile(readText(file));
    const customary = PROVIDERS.map((provider) => ({ id: provider.id, kinds: variablesOf(provider) }));
    const name = file ?? "the environment";
    const held = holdingsOfEnvironment(environment, customary, name);
    return { ...held, left: [...held.left, ...othersKeys(environment, held, name)] };
  }
  if (source.kind !== "litellm") {
    const { kind } = source;
    const rows = await withTables(source.database, (tables) => readOneApi(kind, tables));
    return holdingsOfOneApi(kind, rows, { ...deps, find });
  }
  const config = readConfig(readText(source.config), source.config);
  const rows =
    source.database !== undefined
      ? await withTables(source.database, readDatabase)
      : source.keys === undefined
        ? undefined
        : readKeyList(readText(source.keys), source.keys);
  const customary = (id: string) => {
    const provider = PROVIDERS.find((each) => each.id === id);
    return provider && variablesOf(provider)[0]?.[0];
  };
  const namesAt = createNamesAt(deps.models);
  return holdingsOfLitellm(config, rows, {
    ...deps,
    find,
    namesAt,
    customary,
    variable: (name) => deps.env[name],
  });
}

async function withTables<T>(place: string, read: (tables: Tables) => Promise<T>): Promise<T> {
  const tables = await openTables(place);
  try {
    return await read(tables);
  } finally {
    await tables.stop();
  }
}

/** @throws UnreadableSource */
function readText(path: string): string {
  if (!existsSync(path)) throw new UnreadableSource(`${path} cannot be read: there is no such file.`);
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= MOST_BYTES) return bytes.toString("utf8");
  } catch (error) {
    if (isSystemError(error)) throw new UnreadableSource(`${path} cannot be read: ${reasonOf(error)}.`);
    throw error;
  }
  throw new UnreadableSource(`${path} is larger than ${MOST_BYTES} bytes.`);
}

/** Keys that are in variables of other programs. */
function othersKeys({ variables }: Environment, { providerKeys }: Holdings, name: string): Holdings["left"] {
  const isHeld = (id: string) => providerKeys.some(({ provider }) => provider === id);
  const found = nearVariables(PROVIDERS, isHeld, {
    env: Object.fromEntries(variables),
    machine: { cores: 1 },
  });
  return found.map((each) => ({ kind: "provider_key", from: `${each.name} in ${name}`, why: each.why }));
}

/** In these, nothing stands for anything else. */
function ownVariables(env: SourceDeps["env"]): Environment {
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { variables: new Map(set), unresolved: new Set() };
}

type Provider = (typeof PROVIDERS)[number];

/** The variables of each kind of account of a provider. */
function variablesOf(provider: Provider): string[][] {
  const accounts = accountProvider(provider, provider.settings({ cores: 1 }));
  return accounts.kinds.map((kind) => kind.flatMap((name) => variableOfSecret(accounts, name) ?? []));
}

/** Where a provider's requests go unless an operator says otherwise. */
export function usualOrigin(id: ProviderId): string | undefined {
  const provider = PROVIDERS.find((each) => each.id === id);
  const base = provider && settingOf(provider.settings({ cores: 1 }), "baseUrl");
  return originOf(base?.fallback ?? base?.fallbackText);
}

/** The origin of an address; undefined for what is none. */
export function originOf(address: unknown): string | undefined {
  return typeof address === "string" && URL.canParse(address) ? new URL(address).origin : undefined;
}
