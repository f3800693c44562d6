import type { Secret } from "../toolkit/settings/secret.ts";
import { isCredential, type Setting, type SettingTable, type ValuesOf } from "../toolkit/settings/setting.ts";
import type { Origins } from "./choose.ts";
import { isOwnAddress, type Listening } from "./own-address.ts";
import { type ConfigProblem, show } from "./problem.ts";

/** How the keys and management tokens of svc begin. */
const OWN_KEY = /^[sm][kt]-svc-/;

type Tables = Readonly<Record<string, SettingTable>>;
type Values = Readonly<Record<string, ValuesOf<SettingTable>>>;

/** A provider's key that was given, and the address it is sent to. */
interface Upstream {
  readonly id: string;
  /** The name of the key in its table. */
  readonly name: string;
  readonly variable: string;
  readonly key: Secret;
  readonly address: Setting<unknown>;
  readonly url: string;
}

/** Every provider key that was given, with its address. */
export function listUpstreams(tables: Tables, values: Values): Upstream[] {
  return Object.entries(tables).flatMap(([id, table]) =>
    Object.entries(table).flatMap(([name, entry]): Upstream[] => {
      if (!isCredential(entry)) return [];
      const { variable, sentTo } = entry;
      if (sentTo === undefined) return [];
      const key = values[id]?.[name] as Secret | undefined;
      const address = table[sentTo];
      if (key === undefined || address === undefined || isCredential(address)) return [];
      return [{ id, name, variable, key, address, url: String(values[id]?.[sentTo]) }];
    }),
  );
}

/**
 * Leaves out keys of svc itself that would go to a provider's usual address. Clients of this service are told to set such
 * variables, and a server may be started in the same shell.
 */
export function withoutOwnKeys<Given extends Values>(
  tables: Tables,
  values: Given,
): { values: Given; warnings: string[] } {
  const own = listUpstreams(tables, values).filter(
    ({ key, address, url }) => OWN_KEY.test(key.reveal()) && url === address.fallback,
  );
  const kept = Object.fromEntries(
    Object.entries(values).map(([id, each]) => {
      const names = own.filter((upstream) => upstream.id === id).map(({ name }) => [name, undefined]);
      return [id, { ...each, ...Object.fromEntries(names) }];
    }),
  );
  const warnings = own.map(
    ({ id, variable, url }) =>
      `${id}: ${variable} is ignored, because it holds a key of svc, which ${url} does not know. To use another svc as the provider, give its address too.`,
  );
  // The same providers with the same settings; a credential may be undefined.
  return { values: kept as Given, warnings };
}

/** Adds a problem for each provider's address that leads back to this service, which would then send every task to itself. */
export function refuseOwnAddresses(
  tables: Tables,
  values: Values,
  { listening, origins, problems }: { listening: Listening; origins: Origins; problems: ConfigProblem[] },
): void {
  for (const { address, url } of listUpstreams(tables, values)) {
    if (!isOwnAddress(url, listening)) continue;
    const message = `leads back to this service itself, got ${show(url)}; unset it for the server, or give the provider's own address`;
    problems.push({ where: origins.get(address) ?? address.key, message });
  }
}

/** Says which providers take their key and address from variables that are not svc's own, a sentence each. */
export function describeCustomaryVariables(tables: Tables, values: Values, origins: Origins): string[] {
  return listUpstreams(tables, values).map(({ id, variable, address, url }) => {
    const isCustomary = address.customaryEnv !== undefined && origins.get(address) === address.customaryEnv;
    return `${id}: key from ${variable}${isCustomary ? `, base URL from ${address.customaryEnv}: ${url}` : ""}`;
  });
}
