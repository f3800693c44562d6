import { dirname } from "node:path";
import {
  listSettings,
  type Machine,
  readTree,
  type Setting,
  type SettingTable,
  type ValuesOf,
} from "../toolkit/settings/setting.ts";
import { type AccountSettings, readAccounts } from "./accounts/accounts.ts";
import { type AccountProvider, accountProvider, accountsKey, describeHalves } from "./accounts/provider.ts";
import { chooseValue, type Given, type Origins, readCredential } from "./choose.ts";
import { describeNear, nearVariables } from "./near-variables.ts";
import type { Listening } from "./own-address.ts";
import type { ConfigProblem } from "./problem.ts";
import type { ProviderSettings } from "./settings.ts";
import { type SettingsFile, unknownSetting } from "./settings-file.ts";
import {
  describeAccounts,
  describeCustomaryVariables,
  plainTextKeys,
  refuseOwnAddresses,
  withoutOwnKeys,
} from "./upstreams.ts";

/** An operator's decisions about a provider. */
export interface ProviderConfig {
  /** Of its settings. */
  readonly values: ValuesOf<SettingTable>;
  /** Those that are switched on, the default one first. */
  readonly accounts: readonly AccountSettings[];
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

export interface ProviderSources {
  readonly given: Given;
  readonly machine: Machine;
  /** Lanes whose keys lie sealed in the data folder. */
  readonly sealed: ReadonlySet<string>;
  /** Where the server listens; undefined where none is started. */
  readonly listening: Listening | undefined;
}

/** Reads what concerns one provider, and adds every problem with it. */
export function readProvider(
  provider: ProviderSettings,
  { given, machine, sealed, listening }: ProviderSources,
  problems: ConfigProblem[],
): ProviderConfig {
  const table = provider.settings(machine);
  const origins: Map<Setting<unknown>, string> = new Map();
  const read = readTree(table, (each) => {
    if (each.kind === "credential") return readCredential(each, given, problems);
    const { value, where } = chooseValue(each, given, problems);
    if (where !== undefined) origins.set(each, where);
    return value;
  });
  const { values, warnings: ignored } = withoutOwnKeys(provider.id, table, read);
  const warnings: string[] = [];
  const missing: ConfigProblem[] = [];
  const key = accountsKey(provider.id);
  const ofAccounts = accountProvider(provider, table);
  const accounts = readAccounts(
    ofAccounts,
    values,
    {
      ...{ raw: given.file?.values.get(key), where: `${given.file?.path}: ${key}` },
      ...{ env: given.env, folder: dirname(given.file?.path ?? "."), sealed, problems, warnings, missing },
    },
    provider.isKeyless?.(values) ?? false,
  );
  const upstream = { id: provider.id, table, values, accounts };
  refuseUnknown(ofAccounts, given.file, problems);
  if (listening !== undefined) {
    problems.push(...missing.map((each) => ({ ...each, isMissing: true as const })));
    refuseOwnAddresses(upstream, { listening, origins: origins as Origins, problems });
  }
  return {
    ...{ values, accounts },
    warnings: [...ignored, ...warnings, ...describeHalves(ofAccounts, values), ...plainTextKeys(upstream)],
    notes: [...describeCustomaryVariables(upstream, origins), ...describeAccounts(upstream)],
  };
}

export type ReadProviders = ReturnType<typeof readProviders>;

/** Reads what concerns each provider. */
export function readProviders(
  providers: readonly ProviderSettings[],
  sources: ProviderSources,
  problems: ConfigProblem[],
) {
  const all = providers.map((provider) => [provider.id, readProvider(provider, sources, problems)] as const);
  const byId = <T>(of: (config: ProviderConfig) => T): { readonly [id: string]: T } =>
    Object.fromEntries(all.map(([id, config]) => [id, of(config)]));
  const accounts = byId((config) => config.accounts);
  const { given, machine } = sources;
  const hasAccount = (id: string) => accounts[id]?.length !== 0;
  const misnamed = nearVariables(providers, hasAccount, { env: given.env, machine });
  return {
    providers: byId(({ values }) => values),
    accounts,
    warnings: all.flatMap(([, { warnings }]) => warnings),
    notes: [...all.flatMap(([, { notes }]) => notes), ...misnamed.map(describeNear)],
    misnamed,
  };
}

/** Checks the names of settings of a provider that became known after the file was read. */
function refuseUnknown(
  provider: AccountProvider,
  file: SettingsFile | undefined,
  problems: ConfigProblem[],
): void {
  const { id, table } = provider;
  const known = [...listSettings(table).map(({ key }) => key), accountsKey(id)];
  for (const key of file?.values.keys() ?? []) {
    if (file === undefined || !key.startsWith(`providers.${id}.`) || known.includes(key)) continue;
    problems.push(unknownSetting(file.path, key, { known, provider }));
  }
}
