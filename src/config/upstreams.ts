import type { Secret } from "../toolkit/settings/secret.ts";
import { isCredential, type Setting, type SettingTable, type ValuesOf } from "../toolkit/settings/setting.ts";
import type { AccountSettings } from "./accounts/accounts.ts";
import { settingOf } from "./accounts/provider.ts";
import type { Origins } from "./choose.ts";
import { isOwnAddress, type Listening } from "./own-address.ts";
import { type ConfigProblem, show } from "./problem.ts";

/** How the keys and management tokens of svc begin. */
export const OWN_KEY = /^[sm][kt]-svc-/;

/** A provider, as far as it matters where its keys are sent. */
export interface Upstream {
  readonly id: string;
  readonly table: SettingTable;
  readonly values: ValuesOf<SettingTable>;
  readonly accounts: readonly AccountSettings[];
}

/** A key in a customary variable, and the address it is sent to. */
interface CustomaryKey {
  /** The name of the key in its table. */
  readonly name: string;
  readonly variable: string;
  readonly key: Secret;
  readonly address: Setting<unknown>;
  readonly url: string;
}

function customaryKeys({ table, values }: Pick<Upstream, "table" | "values">): CustomaryKey[] {
  return Object.entries(table).flatMap(([name, entry]): CustomaryKey[] => {
    if (!isCredential(entry) || entry.sentTo === undefined) return [];
    const { variable, sentTo } = entry;
    // The value of a credential is a secret.
    const key = values[name] as Secret | undefined;
    const address = table[sentTo];
    if (key === undefined || address === undefined || isCredential(address)) return [];
    return [{ name, variable, key, address, url: urlOf(address, values[sentTo]) }];
  });
}

/** Where requests go: to the address that is given, or to the usual one. */
function urlOf(address: Setting<unknown>, given: unknown): string {
  return String(given ?? usualOf(address));
}

/** A setting of an address that has no default names the usual one for people. */
function usualOf({ fallback, fallbackText }: Setting<unknown>): unknown {
  return fallback ?? fallbackText;
}

/**
 * Leaves out keys of svc itself that would go to a provider's usual address. Clients of this service are told to set such
 * variables, and a server may be started in the same shell.
 */
export function withoutOwnKeys(
  id: string,
  table: SettingTable,
  values: ValuesOf<SettingTable>,
): { values: ValuesOf<SettingTable>; warnings: string[] } {
  const own = customaryKeys({ table, values }).filter(
    ({ key, address, url }) => OWN_KEY.test(key.reveal()) && url === usualOf(address),
  );
  const warnings = own.map(
    ({ variable, url }) =>
      `${id}: ${variable} is ignored, because it holds a key of svc, which ${url} does not know. To use another svc as the provider, give its address too.`,
  );
  return { values: { ...values, ...Object.fromEntries(own.map(({ name }) => [name, undefined])) }, warnings };
}

/** Adds a problem for each address that leads back to this service, which would then send every task to itself. */
export function refuseOwnAddresses(
  upstream: Upstream,
  { listening, origins, problems }: { listening: Listening; origins: Origins; problems: ConfigProblem[] },
): void {
  const refuse = (url: string, where: string) => {
    if (!isOwnAddress(url, listening)) return;
    const message = `leads back to this service itself, got ${show(url)}; unset it for the server, or give the provider's own address`;
    problems.push({ where, message });
  };
  const { accounts, table, values } = upstream;
  for (const { baseUrl, where } of accounts) if (baseUrl !== undefined) refuse(baseUrl, `${where}.base_url`);
  const address = settingOf(table, "baseUrl");
  if (address !== undefined && accounts.some(({ baseUrl }) => baseUrl === undefined))
    refuse(urlOf(address, values.baseUrl), origins.get(address) ?? address.key);
}

/** Says whose key and address come from variables that are not svc's own, a sentence each. */
export function describeCustomaryVariables(upstream: Upstream, origins: Origins): string[] {
  const used = customaryKeys(upstream).filter(({ key }) =>
    upstream.accounts.some(({ secrets = {} }) => Object.values(secrets).includes(key)),
  );
  return used.map(({ variable, address, url }) => {
    const isCustomary = address.customaryEnv !== undefined && origins.get(address) === address.customaryEnv;
    return `${upstream.id}: key from ${variable}${isCustomary ? `, base URL from ${address.customaryEnv}: ${url}` : ""}`;
  });
}

/** Says which accounts there are besides those of customary variables, a sentence each. */
export function describeAccounts({ accounts }: Upstream): string[] {
  return accounts.flatMap(({ lane, where, secrets }) => {
    if (secrets === undefined) return [`${lane}: key kept sealed in the data folder`];
    return where === undefined ? [] : [`${lane}: account in ${where}`];
  });
}

/** Keys that would be sent over a network unencrypted. */
export function plainTextKeys(upstream: Upstream): string[] {
  const customary = customaryKeys(upstream);
  const address = settingOf(upstream.table, "baseUrl");
  return upstream.accounts.flatMap(({ lane, secrets, baseUrl }) => {
    const isKeyless = secrets !== undefined && Object.keys(secrets).length === 0;
    if (isKeyless || address === undefined) return [];
    const { protocol, hostname } = new URL(baseUrl ?? urlOf(address, upstream.values.baseUrl));
    const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
    if (protocol === "https:" || isLocal) return [];
    const variables = customary.filter(({ key }) => Object.values(secrets ?? {}).includes(key));
    const whose = variables.length > 0 ? variables.map(({ variable }) => variable) : [`The key of ${lane}`];
    return whose.map(
      (key) => `${key} goes to ${hostname} over http, where anybody on the way can read it; use https.`,
    );
  });
}
