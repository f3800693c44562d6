import type { LaneId, ProviderId } from "../../domain/ids.ts";
import { DEFAULT_ACCOUNT, laneOf } from "../../domain/lane.ts";
import type { SettingTable, ValuesOf } from "../../toolkit/settings/setting.ts";
import { type AccountEntry, readEntries } from "./entry.ts";
import { type AccountProvider, addCommand, hasAccounts, variableOfSecret } from "./provider.ts";
import { namedSecrets, type SecretSources, type Secrets } from "./secrets.ts";

/** An account at a provider that is switched on, as the operator's settings have it. */
export interface AccountSettings
  extends Pick<
    AccountEntry,
    | ("name" | "baseUrl" | "region" | "concurrency")
    | ("submitsPerMinute" | "pollsPerSecond" | "proxy" | "onUnknown")
  > {
  readonly lane: LaneId;
  /** By their names at the provider; absent: they lie sealed in the data folder. */
  readonly secrets?: Secrets | undefined;
  /** Its place in the settings file; absent for one that stands in none. */
  readonly where?: string | undefined;
}

export interface AccountSources extends SecretSources {
  /** What the settings file has under `accounts`, and its place. */
  readonly raw: unknown;
  readonly where: string;
  /** The lanes whose keys lie sealed in the data folder. */
  readonly sealed: ReadonlySet<string>;
}

/**
 * The accounts of a provider, the default one first. For an account's key, the settings file overrides the customary variable, and
 * that overrides a sealed key. A customary variable that an account names as its own creates no other account.
 *
 * @param isKeyless whether the provider's settings make a default account that needs no key
 */
export function readAccounts(
  provider: AccountProvider,
  values: ValuesOf<SettingTable>,
  sources: AccountSources,
  isKeyless: boolean,
): AccountSettings[] {
  const { raw, where, problems, sealed } = sources;
  if (raw !== undefined && !hasAccounts(provider)) {
    problems.push({ where, message: `${provider.id} has no accounts; leave it out` });
    return [];
  }
  const entries = readEntries(raw, where, provider, problems);
  const listed = entries.flatMap((entry) => listedAccount(entry, provider, values, sources) ?? []);
  const isListed = (lane: string) => entries.some(({ name }) => laneNamed(provider, name) === lane);
  const own = laneNamed(provider, DEFAULT_ACCOUNT);
  const customary = customarySecrets(provider, values, entries) ?? (isKeyless ? {} : undefined);
  const usual: AccountSettings[] =
    customary === undefined || isListed(own)
      ? []
      : [{ name: DEFAULT_ACCOUNT, lane: own, secrets: customary }];
  const kept = [...sealed].sort().flatMap((lane): AccountSettings[] => {
    const name = nameOf(provider, lane);
    const isKnown = name === undefined || isListed(lane) || usual.some((each) => each.lane === lane);
    return isKnown ? [] : [{ name, lane: laneNamed(provider, name) }];
  });
  return [...usual, ...[...listed, ...kept].sort(defaultFirst)];
}

/** @returns undefined, and reports the problem, if its key is nowhere */
function listedAccount(
  entry: AccountEntry,
  provider: AccountProvider,
  values: ValuesOf<SettingTable>,
  sources: AccountSources,
): AccountSettings | undefined {
  const { keyEnv, keyFile, hasKey, ...settings } = entry;
  const lane = laneNamed(provider, entry.name);
  const found = (secrets: Secrets | undefined) => ({ ...settings, lane, secrets });
  if (keyEnv !== undefined || keyFile !== undefined) {
    const secrets = namedSecrets(entry, provider, sources);
    return secrets && found(secrets);
  }
  const customary = entry.name === DEFAULT_ACCOUNT ? customarySecrets(provider, values, []) : undefined;
  if (customary !== undefined) return found(customary);
  if (sources.sealed.has(lane)) return found(undefined);
  if (provider.kinds.some((kind) => kind.length === 0)) return found({});
  if (hasKey) return undefined;
  const message = `has no key; name a variable (key_env) or a file (key_file) that holds it, or run \`${addCommand(provider.id, entry.name)}\``;
  sources.missing.push({ where: entry.where, message });
  return undefined;
}

/** The secrets that are in the customary variables, unless an account of the settings file names one of those. */
function customarySecrets(
  provider: AccountProvider,
  values: ValuesOf<SettingTable>,
  entries: readonly AccountEntry[],
): Secrets | undefined {
  const named = entries.flatMap(({ keyEnv = [] }) =>
    typeof keyEnv === "string" ? [keyEnv] : Object.values(keyEnv),
  );
  const kind = provider.kinds.find(
    (names) => names.length > 0 && names.every((name) => values[name] !== undefined),
  );
  if (kind === undefined || kind.some((name) => named.includes(variableOfSecret(provider, name) ?? "")))
    return undefined;
  // The values of credentials are secrets.
  return Object.fromEntries(kind.map((name) => [name, values[name]])) as Secrets;
}

function laneNamed({ id }: AccountProvider, name: string): LaneId {
  return laneOf(id as ProviderId, name);
}

/** The name of the account that a lane is at this provider; undefined for another provider's. */
function nameOf({ id }: AccountProvider, lane: string): string | undefined {
  if (lane === id) return DEFAULT_ACCOUNT;
  return lane.startsWith(`${id}/`) ? lane.slice(id.length + 1) : undefined;
}

function defaultFirst(a: AccountSettings, b: AccountSettings): number {
  return Number(b.name === DEFAULT_ACCOUNT) - Number(a.name === DEFAULT_ACCOUNT);
}
