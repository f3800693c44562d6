import { join } from "node:path";
import type { LaneId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { OnUnknown } from "../domain/task/routing.ts";
import type { Secret } from "../toolkit/settings/secret.ts";
import type { SettingTable, ValuesOf } from "../toolkit/settings/setting.ts";
import type { ProviderAccount } from "./account.ts";
import { comfyUi } from "./comfyui/definition.ts";
import { DECLARED } from "./declared/definition.ts";
import type { UsedForms } from "./declared/used-forms.ts";
import type { ProviderDefinition, ProviderDeps } from "./definition.ts";
import { fal } from "./fal/definition.ts";
import { openAi } from "./openai/definition.ts";
import { sandbox } from "./sandbox/definition.ts";
import { sdApi } from "./sdapi/definition.ts";
import { svc } from "./svc/definition.ts";

/** Every provider there is, switched on or not, in the order the help lists them. */
export const PROVIDERS: readonly ProviderDefinition[] = [
  sandbox,
  openAi,
  fal,
  svc,
  comfyUi,
  sdApi,
  ...DECLARED,
];

/** The folder of a data folder that keeps the texts of forms that tasks began with, by their hashes. */
export const USED_FORMS = "provider-forms";

interface MaybeSealed extends Omit<ProviderAccount, "secrets" | "proxy"> {
  /** Absent: they lie sealed in the data folder. */
  readonly secrets?: ProviderAccount["secrets"] | undefined;
  /** Its address may hold a password. */
  readonly proxy?: Secret | undefined;
}

export interface ProvidersConfig {
  readonly dataDir: string;
  /** The database that nodes share, if they do. */
  readonly database?: Secret | undefined;
  /** What every request to a provider goes through, unless its account has a proxy of its own. */
  readonly proxy?: Secret | undefined;
  /** The values of each provider's settings, by its id. */
  readonly providers: { readonly [id: string]: ValuesOf<SettingTable> };
  /** The accounts that are switched on, by their provider. */
  readonly accounts: {
    readonly [id: string]: readonly MaybeSealed[];
  };
}

export interface CreateDeps extends Omit<ProviderDeps, "directory" | "usedForms" | "isShared"> {
  /** What becomes of each adapter that is made; it stays as it is unless given. */
  readonly around?: ((adapter: ProviderAdapter) => ProviderAdapter) | undefined;
  readonly config: Pick<ProvidersConfig, "dataDir" | "proxy" | "database">;
  /** Opens the secrets of an account; undefined where no key opens them, which leaves the account out. */
  readonly unseal?: ((lane: LaneId) => ProviderAccount["secrets"] | undefined) | undefined;
}

/** Loads the providers that are switched on, an adapter for each account. Nothing is opened before one is first used. */
export async function createProviders(
  deps: CreateDeps & { readonly config: ProvidersConfig },
): Promise<ProviderAdapter[]> {
  const { providers, accounts } = deps.config;
  const all = PROVIDERS.map((provider) => {
    const { id } = provider;
    return createAccounts(provider, { values: providers[id] ?? {}, accounts: accounts[id] ?? [] }, deps);
  });
  return (await Promise.all(all)).flat();
}

/** Loads the accounts of a provider that are switched on. */
export function createAccounts(
  { id, create }: ProviderDefinition,
  given: { readonly values: ValuesOf<SettingTable>; readonly accounts: readonly MaybeSealed[] },
  { config, unseal, around = (adapter) => adapter, ...deps }: CreateDeps,
): Promise<ProviderAdapter[]> {
  let opened: Promise<UsedForms> | undefined;
  const usedForms = () => {
    opened ??= openUsedForms(join(config.dataDir, USED_FORMS));
    return opened;
  };
  const adapters = given.accounts.flatMap(({ secrets: known, ...account }) => {
    const secrets = known ?? unseal?.(account.lane);
    if (secrets === undefined) return [];
    const proxy = (account.proxy ?? config.proxy)?.reveal();
    const directory = join(config.dataDir, id);
    const parts = { ...deps, directory, usedForms, isShared: config.database !== undefined };
    const made = create({ ...account, proxy, secrets }, given.values, parts);
    return [made.then((adapter) => around(withDecision(adapter, account.onUnknown)))];
  });
  return Promise.all(adapters);
}

/** The operator's decision about an account, which no provider needs to know. */
function withDecision(adapter: ProviderAdapter, onUnknown: OnUnknown | undefined): ProviderAdapter {
  if (onUnknown !== undefined) adapter.onUnknown = onUnknown;
  return adapter;
}

async function openUsedForms(folder: string): Promise<UsedForms> {
  const { createUsedForms } = await import("./declared/used-forms.ts");
  return createUsedForms(folder);
}

/**
 * Names what an operator must set to switch a provider on, such as `OPENAI_API_KEY`, but has not set; empty if the provider has an
 * account. Undefined for an unknown id.
 */
export function providerNeeds(
  id: string,
  config: { readonly [Part in "providers" | "accounts"]?: ProvidersConfig[Part] | undefined } = {},
): readonly string[] | undefined {
  const provider = PROVIDERS.find((each) => each.id === id);
  const hasAccount = (config.accounts?.[id] ?? []).length > 0;
  return provider && (hasAccount ? [] : provider.needs(config.providers?.[id]));
}
