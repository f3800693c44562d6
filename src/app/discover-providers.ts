import type { Config } from "../config/config.ts";
import { type Discovered, discover } from "../providers/discover.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { isSetting } from "../toolkit/settings/setting.ts";

/** An engine that was found, and how it is switched on. */
export interface OfferedEngine extends Omit<Discovered, "also" | "origin" | "path"> {
  /** As a provider is given it. */
  readonly baseUrl: string;
  /** An account of this server's settings already has this address. */
  readonly isOn: boolean;
  /** Variables with their values. */
  readonly env: readonly string[];
  /** The place of its address in svc.yaml. */
  readonly setting: string;
}

/** Looks for engines on this machine and at the addresses that the settings allow. */
export async function discoverProviders(
  config: Config,
  ports: readonly number[],
): Promise<{ readonly engines: readonly OfferedEngine[]; readonly skipped: readonly string[] }> {
  const deps = { clock: createSystemClock(), signal: new AbortController().signal };
  const { found, skipped } = await discover({ ports, allow: config.egress.allow }, deps);
  // Another instance of this service is not a separate provider.
  const others = found.filter(({ engine, origin }) => engine !== "svc" || !isOurs(config, origin));
  return { engines: others.map((each) => offered(config, each)), skipped };
}

function offered(config: Config, { origin, path, also, ...found }: Discovered): OfferedEngine {
  const baseUrl = origin + path;
  const table = PROVIDERS.find(({ id }) => id === found.provider)?.settings({ cores: 1 }) ?? {};
  const address = table.baseUrl !== undefined && isSetting(table.baseUrl) ? table.baseUrl : undefined;
  const setting = address?.key ?? `providers.${found.provider}.base_url`;
  const variable = address?.customaryEnv ?? `SVC_${setting.replaceAll(".", "_").toUpperCase()}`;
  const usual = config.providers[found.provider]?.baseUrl;
  const accounts = config.accounts[found.provider] ?? [];
  const isOn = accounts.some((account) => sameAddress(account.baseUrl ?? usual, baseUrl));
  const env = [`${variable}=${baseUrl}`, ...(also === undefined ? [] : [also])];
  return { ...found, baseUrl, isOn, env, setting };
}

/** Whether a server with these settings would listen there. */
function isOurs({ port }: Config, origin: string): boolean {
  const { hostname, port: at } = new URL(origin);
  return at === String(port) && (hostname === "127.0.0.1" || hostname === "[::1]");
}

function sameAddress(one: unknown, other: string): boolean {
  return typeof one === "string" && URL.parse(one)?.href === new URL(other).href;
}
