import { existsSync } from "node:fs";
import { accountProvider, variableOfSecret } from "../config/accounts/provider.ts";
import type { Config } from "../config/config.ts";
import type { LaneId } from "../domain/ids.ts";
import { suggest } from "../domain/suggest.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { forgetKey, type KeptSecrets, keepKey } from "../runtime/kept-keys.ts";
import { apiKey, type Parser } from "../toolkit/settings/parsers.ts";
import { isCredential } from "../toolkit/settings/setting.ts";
import { ensureDirectory, type SecretKeys, sealOf } from "./data-folder.ts";
import { noteLocally } from "./note-locally.ts";
import { keptKeyOf } from "./settings.ts";

/** A secret that an account of a provider has. */
export interface SecretName {
  /** The provider's own, such as `key`. */
  readonly name: string;
  /** The variable that it is customarily in. */
  readonly variable: string | undefined;
  readonly parse: Parser<string>;
}

/** A provider as far as keys of its accounts can be kept. */
export interface KeyedProvider {
  readonly id: string;
  readonly title: string;
  /** The secrets of each kind of account, the usual one first; none for a provider without keys. */
  readonly kinds: readonly (readonly SecretName[])[];
}

/** @returns the nearest id, if any, where there is no such provider, and what is wrong with the files that describe others */
export async function findKeyedProvider(
  id: string,
  config: Pick<Config, "dataDir" | "egress" | "providerConfig">,
): Promise<KeyedProvider | { readonly nearest: string | undefined; readonly problems: readonly string[] }> {
  const { readOwnProviders } = await import("./own-providers.ts");
  const { providers: own, problems } = await readOwnProviders(config);
  const all = [...own.map(({ definition }) => definition), ...PROVIDERS];
  const provider = all.find((each) => each.id === id);
  if (provider === undefined) {
    const nearest = suggest(id, [...new Set(all.map((each) => String(each.id)))]);
    return { nearest, problems: problems.map(({ text }) => text) };
  }
  const accounts = accountProvider(provider, provider.settings({ cores: 1 }));
  const secretOf = (name: string): SecretName => {
    const entry = accounts.table[name];
    const parse = entry !== undefined && isCredential(entry) ? entry.parse : undefined;
    return { name, variable: variableOfSecret(accounts, name), parse: parse ?? apiKey };
  };
  const kinds = accounts.kinds.filter((kind) => kind.length > 0);
  return { id, title: provider.title, kinds: kinds.map((kind) => kind.map(secretOf)) };
}

/**
 * Stores the secrets of an account, sealed, in a data folder, which is created if missing. The trail entry is written first, so a
 * crash in between leaves an entry too many.
 */
export async function keepAccount(
  config: SecretKeys & Config,
  lane: LaneId,
  secrets: KeptSecrets,
): Promise<void> {
  ensureDirectory(config.dataDir);
  const after = { secrets: Object.keys(secrets) };
  await noteLocally(config, { action: "provider.add", object: { kind: "provider", id: lane }, after });
  keepKey(keptKeyOf(config.dataDir, lane), sealOf(config), secrets);
}

/** @returns whether a key of the account was kept */
export async function forgetAccount(config: Pick<Config, "dataDir">, lane: LaneId): Promise<boolean> {
  const key = keptKeyOf(config.dataDir, lane);
  if (!existsSync(key.path)) return false;
  const object = { kind: "provider", id: lane } as const;
  await noteLocally(config, { action: "provider.remove", object, before: { kept: true } });
  return forgetKey(key);
}
