import type { Config } from "../config/config.ts";
import type { LaneId, ProviderId } from "../domain/ids.ts";
import { accountNameOf, laneOf } from "../domain/lane.ts";
import type { HeldProviderKey } from "../moving/holdings.ts";
import type { PlanItem } from "../moving/plan.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { type KeptSecrets, openKey } from "../runtime/kept-keys.ts";
import { sealOf } from "./data-folder.ts";
import { originOf, usualOrigin } from "./import-sources.ts";
import { findKeyedProvider, keepAccount, type SecretName } from "./kept-accounts.ts";
import { keptKeyOf } from "./settings.ts";

/** A provider's key to keep. */
interface PlannedProviderKey {
  readonly lane: LaneId;
  readonly secrets: KeptSecrets;
}

export interface PlannedProviderKeys {
  readonly keys: readonly PlannedProviderKey[];
  readonly items: readonly PlanItem[];
}

/** Which keys of providers are imported, and as which accounts. Messages contain no part of a key. */
export async function planProviderKeys(
  held: readonly HeldProviderKey[],
  config: Config,
): Promise<PlannedProviderKeys> {
  const keys: PlannedProviderKey[] = [];
  const items: PlanItem[] = [];
  const taken = lanesOf(config);
  for (const each of held) {
    const item = (action: PlanItem["action"], note: string, to?: string) =>
      void items.push({ kind: "provider_key", from: each.from, to, action, note });
    const elsewhere = elsewhereOf(each, config);
    const secrets = await secretsOf(each, config);
    if (typeof secrets === "string") {
      item("leave", secrets);
      continue;
    }
    const same = [...taken].find(
      ([, { provider, known, origin }]) =>
        provider === each.provider && isSame(known, secrets) && origin === elsewhere?.origin,
    );
    if (elsewhere !== undefined && same === undefined) {
      // No other key may get the account that this one is advised to have, with its address.
      const lane = freeLane(each, taken);
      taken.set(lane, { provider: each.provider, known: secrets, origin: elsewhere.origin, isAdvised: true });
      item("leave", elsewhere.adviceFor(accountNameOf(lane)));
      continue;
    }
    if (same !== undefined) {
      const [lane, { isAdvised }] = same;
      if (isAdvised === true && elsewhere !== undefined)
        item("leave", elsewhere.adviceFor(accountNameOf(lane)));
      else if (keys.some((key) => key.lane === lane)) item("leave", "the same key comes already", lane);
      else item("here", "the same key is here", lane);
      continue;
    }
    const lane = freeLane(each, taken);
    taken.set(lane, { provider: each.provider, known: secrets });
    keys.push({ lane, secrets });
    item("bring", "", lane);
  }
  return { keys, items };
}

/** Keeps the keys sealed in the data folder, each by itself. */
export async function keepProviderKeys(keys: readonly PlannedProviderKey[], config: Config): Promise<void> {
  for (const { lane, secrets } of keys) await keepAccount(config, lane, secrets);
}

interface Taken {
  readonly provider: ProviderId;
  readonly known: KeptSecrets | undefined;
  /** Where it is used, if that is not the provider's usual address. */
  readonly origin?: string | undefined;
  /** It is only advised, and neither here nor to come. */
  readonly isAdvised?: boolean | undefined;
}

/** The accounts that there are, with their secrets as far as they can be read. */
function lanesOf(config: Config): Map<LaneId, Taken> {
  const seal = sealOf(config);
  const found = new Map<LaneId, Taken>();
  for (const { id } of PROVIDERS) {
    const usual = usualOrigin(id);
    for (const { lane, secrets, baseUrl, where } of config.accounts[id] ?? []) {
      const opened =
        secrets === undefined
          ? openKey(keptKeyOf(config.dataDir, lane), seal, { isReadOnly: true })
          : undefined;
      const known =
        secrets === undefined
          ? opened?.kind === "opened"
            ? opened.secrets
            : undefined
          : Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
      // What stands in no settings file is of this command's environment, which need not be the server's.
      const own = where === undefined ? usual : (originOf(baseUrl) ?? usual);
      found.set(lane, { provider: id, known, ...(own !== usual && { origin: own }) });
    }
  }
  return found;
}

/** An address other than the provider's usual one. */
interface Elsewhere {
  /** Absent if it is not known. */
  readonly origin: string | undefined;
  /** @returns why the key cannot be imported, and what to do */
  readonly adviceFor: (account: string) => string;
}

/** A key goes to no address other than the one that it had there. @returns undefined if it may be imported */
function elsewhereOf({ provider, baseUrl }: HeldProviderKey, config: Config): Elsewhere | undefined {
  const usual = usualOrigin(provider);
  const here = originOf(config.providers[provider]?.baseUrl) ?? usual;
  const there = baseUrl === undefined ? usual : originOf(baseUrl);
  if (there !== undefined && there === usual && here === usual) return undefined;
  const where = there === undefined ? "an address that the channel does not say, or that is none" : there;
  const what =
    there === usual ? `${provider} has another address in the settings here` : `it is used at ${where}`;
  return {
    origin: there === usual ? undefined : there,
    adviceFor: (account) =>
      `${what}; give ${provider} an account ${account} with that base_url in svc.yaml, then svc providers add ${provider} --account ${account}`,
  };
}

/** The parts of a key by the provider's names for them, or what is wrong with it. */
async function secretsOf(
  { provider, secrets }: HeldProviderKey,
  config: Config,
): Promise<KeptSecrets | string> {
  const keyed = await findKeyedProvider(provider, config);
  if ("nearest" in keyed) return `there is no provider ${provider} here`;
  const kind = keyed.kinds.find((names) => names.length === secrets.length);
  const single = keyed.kinds.find((names) => names.length === 1);
  if (kind !== undefined) return parsed(kind, secrets);
  // A key that has the sign which others put between two.
  if (single !== undefined) return parsed(single, [secrets.join("|")]);
  return `its key has ${secrets.length} parts, and ${provider} takes ${keyed.kinds.map(({ length }) => length).join(" or ")}`;
}

function parsed(names: readonly SecretName[], given: readonly string[]): KeptSecrets | string {
  const found: Record<string, string> = {};
  for (const [index, { name, parse }] of names.entries()) {
    const result = parse(given[index] ?? "");
    if (!result.ok) return `its ${name} cannot be one: it must be ${result.expected}`;
    found[name] = result.value;
  }
  return found;
}

function isSame(known: KeptSecrets | undefined, secrets: KeptSecrets): boolean {
  const names = Object.keys(secrets);
  return known !== undefined && names.length > 0 && names.every((name) => known[name] === secrets[name]);
}

function freeLane({ provider, name }: HeldProviderKey, taken: ReadonlyMap<LaneId, Taken>): LaneId {
  for (let number = 1; ; number++) {
    const lane = laneOf(provider, number === 1 ? name : `${name.slice(0, 26)}-${number}`);
    if (!taken.has(lane)) return lane;
  }
}
