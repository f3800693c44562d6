import { isCredential, type Setting, type SettingTable } from "../../toolkit/settings/setting.ts";
import type { ProviderSettings } from "../settings.ts";

/** A provider as far as its accounts depend on it. */
export interface AccountProvider {
  readonly id: string;
  readonly table: SettingTable;
  /** The names of the credentials that an account has: all of one of these kinds. */
  readonly kinds: readonly (readonly string[])[];
}

export function accountProvider(
  { id, kinds }: Pick<ProviderSettings, "id" | "kinds">,
  table: SettingTable,
): AccountProvider {
  const all = Object.entries(table).flatMap(([name, entry]) => (isCredential(entry) ? [name] : []));
  return { id, table, kinds: kinds ?? [all] };
}

/** Whether a provider has accounts at all: something of theirs can differ. */
export function hasAccounts({ table, kinds }: AccountProvider): boolean {
  return settingOf(table, "baseUrl") !== undefined || kinds.some((kind) => kind.length > 0);
}

export function settingOf(table: SettingTable, name: string): Setting<unknown> | undefined {
  const entry = table[name];
  return entry === undefined || isCredential(entry) ? undefined : entry;
}

/** The customary variable of a credential. */
export function variableOfSecret({ table }: AccountProvider, name: string): string | undefined {
  const entry = table[name];
  return entry !== undefined && isCredential(entry) ? entry.variable : undefined;
}

/** The command that keeps an account's key sealed in the data folder. */
export function addCommand(id: string, name: string): string {
  return `svc providers add ${id}${name === "default" ? "" : ` --account ${name}`}`;
}

/** Says which customary variables are set in vain, because another one that belongs to them is not. */
export function describeHalves(
  provider: AccountProvider,
  values: Readonly<Record<string, unknown>>,
): string[] {
  const isSet = (name: string) => values[name] !== undefined;
  if (provider.kinds.some((kind) => kind.length > 0 && kind.every(isSet))) return [];
  return provider.kinds
    .filter((kind) => kind.some(isSet))
    .map((kind) => {
      const named = (names: readonly string[]) =>
        names.map((name) => variableOfSecret(provider, name)).join(" and ");
      const [set, unset] = [kind.filter(isSet), kind.filter((name) => !isSet(name))];
      return `${provider.id}: ${named(set)} does nothing without ${named(unset)}.`;
    });
}

/** The place of a provider's accounts in the settings file. */
export function accountsKey(id: string): string {
  return `providers.${id}.accounts`;
}
