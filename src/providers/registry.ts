import { join } from "node:path";
import type { LaneId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Secret } from "../toolkit/settings/secret.ts";
import type { SettingTable, ValuesOf } from "../toolkit/settings/setting.ts";
import type { ProviderAccount } from "./account.ts";
import { DECLARED } from "./declared/definition.ts";
import type { ProviderDefinition } from "./definition.ts";
import { fal } from "./fal/definition.ts";
import { openAi } from "./openai/definition.ts";
import { sandbox } from "./sandbox/definition.ts";

/** Every provider there is, switched on or not, in the order the help lists them. */
export const PROVIDERS: readonly ProviderDefinition[] = [sandbox, openAi, fal, ...DECLARED];

interface MaybeSealed extends Omit<ProviderAccount, "secrets"> {
  /** Absent: they lie sealed in the data folder. */
  readonly secrets?: ProviderAccount["secrets"] | undefined;
}

export interface ProvidersConfig {
  readonly dataDir: string;
  /** What every request to a provider goes through, unless its account has a proxy of its own. */
  readonly proxy?: Secret | undefined;
  /** The values of each provider's settings, by its id. */
  readonly providers: { readonly [id: string]: ValuesOf<SettingTable> };
  /** The accounts that are switched on, by their provider. */
  readonly accounts: {
    readonly [id: string]: readonly MaybeSealed[];
  };
}

/** Loads the providers that are switched on, an adapter for each account. Nothing is opened before one is first used. */
export async function createProviders(deps: {
  readonly config: ProvidersConfig;
  readonly clock: Clock;
  /** Opens the secrets of an account; undefined where no key opens them, which leaves the account out. */
  readonly unseal?: ((lane: LaneId) => ProviderAccount["secrets"] | undefined) | undefined;
}): Promise<ProviderAdapter[]> {
  const { config, clock, unseal } = deps;
  return Promise.all(
    PROVIDERS.flatMap((provider) => {
      const { id, create } = provider;
      const values = config.providers[id] ?? {};
      return (config.accounts[id] ?? []).flatMap(({ secrets: given, ...account }) => {
        const secrets = given ?? unseal?.(account.lane);
        if (secrets === undefined) return [];
        const proxy = account.proxy ?? config.proxy?.reveal();
        return [
          create({ ...account, proxy, secrets }, values, { clock, directory: join(config.dataDir, id) }),
        ];
      });
    }),
  );
}

/**
 * Names what an operator must set to switch a provider on, such as `OPENAI_API_KEY`, and has not: nothing where it has an account.
 * Undefined for an unknown id.
 */
export function providerNeeds(
  id: string,
  config: { readonly [Part in "providers" | "accounts"]?: ProvidersConfig[Part] | undefined } = {},
): readonly string[] | undefined {
  const provider = PROVIDERS.find((each) => each.id === id);
  const hasAccount = (config.accounts?.[id] ?? []).length > 0;
  return provider && (hasAccount ? [] : provider.needs(config.providers?.[id]));
}
