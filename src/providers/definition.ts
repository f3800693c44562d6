import type { ProviderId } from "../domain/ids.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { Secret } from "../toolkit/settings/secret.ts";
import {
  type Credential,
  isCredential,
  type Machine,
  type SettingTable,
  type ValuesOf,
} from "../toolkit/settings/setting.ts";
import type { ProviderAccount } from "./account.ts";
import type { UsedForms } from "./declared/used-forms.ts";
import type { Network } from "./kit/network.ts";

export interface ProviderIdentity {
  readonly id: ProviderId;
  /** For people. */
  readonly title: string;
}

export interface ProviderDeps {
  readonly clock: Clock;
  /** A folder of this provider's own. It exists only if the provider creates it. */
  readonly directory: string;
  /** Whether other processes go on with the tasks of this one, and have folders of their own. */
  readonly isShared?: boolean | undefined;
  /** Memory that pictures may take which are made in this process; no limit unless given. */
  readonly pictureBytes?: number | undefined;
  /** The forms that tasks began with; the same for all accounts. */
  readonly usedForms: () => Promise<UsedForms>;
  /** Fetches a file from any public address, through the guard against private ones; absent: no provider may. */
  readonly fetchPublic?: Egress["fetchMedia"] | undefined;
  readonly log?: Pick<Log, "warn"> | undefined;
  /** The runtime's unless given. */
  readonly network?: Network | undefined;
}

/** All the service knows of a provider before it is used. */
export interface ProviderDefinition extends ProviderIdentity {
  /** Its flags, variables and places in svc.yaml. */
  settings(machine: Machine): SettingTable;
  /** The missing settings that would switch it on, by the names an operator sets; everything that is needed if no values are given. */
  needs(values?: ValuesOf<SettingTable>): readonly string[];
  /** The names of the credentials that an account has, all of one of these kinds; all of its settings unless given. */
  readonly kinds?: readonly (readonly string[])[] | undefined;
  /** Whether its settings make a default account that needs no key. */
  isKeyless(values: ValuesOf<SettingTable>): boolean;
  /**
   * Makes the adapter of one account.
   *
   * @param values of its settings; what the account itself has counts before them
   */
  create(
    account: ProviderAccount,
    values: ValuesOf<SettingTable>,
    deps: ProviderDeps,
  ): Promise<ProviderAdapter>;
}

interface Declaration<Table extends SettingTable, Needed extends keyof Table & string>
  extends ProviderIdentity {
  readonly settings: (machine: Machine) => Table;
  /** The credentials that must be given and the settings that must not be off. */
  readonly needs: readonly Needed[];
  /** Makes the adapter. Imports it only then, so that commands that need no provider start without it. */
  readonly create: (
    account: ProviderAccount & { readonly secrets: SecretsOf<Table> },
    values: ValuesOf<Table>,
    deps: ProviderDeps,
  ) => Promise<ProviderAdapter>;
}

type SecretsOf<Table> = {
  readonly [Name in keyof Table as Table[Name] extends Credential ? Name : never]: Secret;
};

export function defineProvider<const Table extends SettingTable, Needed extends keyof Table & string>(
  declaration: Declaration<Table, Needed>,
): ProviderDefinition {
  const { id, title, settings } = declaration;
  const needed: readonly string[] = declaration.needs;
  const missing = (values: ValuesOf<SettingTable>) =>
    needed.filter((name) => values[name] === undefined || values[name] === false);
  return {
    id,
    title,
    settings,
    needs: (values = {}) => {
      const names = missing(values);
      const entries = Object.entries(settings({ cores: 1 })).filter(([name]) => names.includes(name));
      return entries.map(([, entry]) => (entry.kind === "credential" ? entry.variable : entry.key));
    },
    isKeyless: (values) => !hasCredentials(settings({ cores: 1 })) && missing(values).length === 0,
    create: (account, values, deps) =>
      // They were read by this declaration's table, and an account has every credential in it.
      declaration.create(
        account as ProviderAccount & { readonly secrets: SecretsOf<Table> },
        values as ValuesOf<Table>,
        deps,
      ),
  };
}

function hasCredentials(table: SettingTable): boolean {
  return Object.values(table).some(isCredential);
}
