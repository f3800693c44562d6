import { accountProvider, hasAccounts } from "../config/accounts/provider.ts";
import type { Config } from "../config/config.ts";
import type { ProviderConfig } from "../config/providers.ts";
import type { ProviderSettings } from "../config/settings.ts";
import type { LaneId } from "../domain/ids.ts";
import { isJsonObject, type Json } from "../domain/json.ts";
import { accountNameOf, providerOf } from "../domain/lane.ts";
import type { Library } from "../providers/recordings/library.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { createSecret } from "../toolkit/settings/secret.ts";
import { isCredential } from "../toolkit/settings/setting.ts";

/** Replaces every secret, because a replay needs none. */
const PLACEHOLDER = "placeholder-of-a-replay";

/**
 * The settings of a replay. Only the recorded accounts are switched on, with the addresses of the recording. Providers without an
 * upstream stay as they are. No provider gets an address to call.
 */
export function replayedConfig(config: Config, { recordings }: Pick<Library, "recordings">): Config {
  const lanes = new Map(recordings.flatMap(({ accounts }) => [...accounts]));
  const accountsOf = (provider: ProviderSettings): ProviderConfig["accounts"] => {
    const secrets = secretsOf(provider);
    return [...lanes]
      .filter(([lane]) => providerOf(lane as LaneId) === provider.id)
      .map(([lane, terms]) => ({
        ...{ name: accountNameOf(lane as LaneId), lane: lane as LaneId, secrets },
        ...placeOf(terms),
      }));
  };
  const accounts = PROVIDERS.map((provider) => {
    const { id } = provider;
    return [id, asksNobody(provider) ? (config.accounts[id] ?? []) : accountsOf(provider)] as const;
  });
  return {
    ...{ ...config, hooks: false, proxy: undefined },
    accounts: Object.fromEntries(accounts),
    providerConfig: (provider) => ({ ...config.providerConfig(provider), accounts: accountsOf(provider) }),
  };
}

/** Where an account was reached when it was recorded. */
function placeOf(terms: Json): { baseUrl?: string; region?: string } {
  const { base, region } = isJsonObject(terms) ? terms : {};
  return {
    ...(typeof base === "string" && URL.canParse(base) && { baseUrl: base }),
    ...(typeof region === "string" && { region }),
  };
}

const MACHINE = { cores: 1 };

function asksNobody(provider: ProviderSettings): boolean {
  return !hasAccounts(accountProvider(provider, provider.settings(MACHINE)));
}

function secretsOf({ kinds, settings }: ProviderSettings) {
  const all = Object.entries(settings(MACHINE)).flatMap(([name, entry]) =>
    isCredential(entry) ? [name] : [],
  );
  const names = (kinds ?? [all]).find((kind) => kind.length > 0) ?? [];
  return Object.fromEntries(names.map((name) => [name, createSecret(PLACEHOLDER)]));
}
