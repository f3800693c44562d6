import type { ProviderId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Machine, SettingTable, ValuesOf } from "../toolkit/settings/setting.ts";

export interface ProviderIdentity {
  readonly id: ProviderId;
  /** For people. */
  readonly title: string;
}

export interface ProviderDeps {
  readonly clock: Clock;
  /** A folder of this provider's own. It exists only if the provider creates it. */
  readonly directory: string;
}

/** All the service knows of a provider before it is used. */
export interface ProviderDefinition extends ProviderIdentity {
  /** Its flags, variables and places in svc.yaml. */
  settings(machine: Machine): SettingTable;
  /** What is missing to switch it on, by the names an operator sets; all that is needed where no values are given. */
  needs(values?: ValuesOf<SettingTable>): readonly string[];
  /** @returns undefined when it is not switched on */
  create(
    values: ValuesOf<SettingTable> | undefined,
    deps: ProviderDeps,
  ): Promise<ProviderAdapter | undefined>;
}

interface Declaration<Table extends SettingTable, Needed extends keyof Table & string>
  extends ProviderIdentity {
  readonly settings: (machine: Machine) => Table;
  /** The credentials that must be given and the settings that must not be off. */
  readonly needs: readonly Needed[];
  /** Makes the adapter. Imports it only then, so that commands that need no provider start without it. */
  readonly create: (
    values: SwitchedOn<ValuesOf<Table>, Needed>,
    deps: ProviderDeps,
  ) => Promise<ProviderAdapter>;
}

type SwitchedOn<Values, Needed> = {
  readonly [Name in keyof Values]: Name extends Needed ? NonNullable<Values[Name]> : Values[Name];
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
    async create(values, deps) {
      if (values === undefined || missing(values).length > 0) return undefined;
      // They were read by this declaration's table, and what it needs is there.
      return declaration.create(values as SwitchedOn<ValuesOf<Table>, Needed>, deps);
    },
  };
}
