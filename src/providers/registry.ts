import { join } from "node:path";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { SettingTable, ValuesOf } from "../toolkit/settings/setting.ts";
import { defaultAccount } from "./account.ts";
import type { ProviderDefinition } from "./definition.ts";
import { fal } from "./fal/definition.ts";
import { openAi } from "./openai/definition.ts";
import { sandbox } from "./sandbox/definition.ts";

/** Every provider there is, switched on or not, in the order the help lists them. */
export const PROVIDERS: readonly ProviderDefinition[] = [sandbox, openAi, fal];

export interface ProvidersConfig {
  readonly dataDir: string;
  /** The values of each provider's settings, by its id. */
  readonly providers: { readonly [id: string]: ValuesOf<SettingTable> };
}

/** Loads the providers that are switched on, an adapter for each account. Nothing is opened before one is first used. */
export async function createProviders(deps: {
  readonly config: ProvidersConfig;
  readonly clock: Clock;
}): Promise<ProviderAdapter[]> {
  const { config, clock } = deps;
  return Promise.all(
    PROVIDERS.flatMap((provider) => {
      const { id } = provider;
      const values = config.providers[id];
      if (values === undefined || provider.needs(values).length > 0) return [];
      const account = defaultAccount(id, provider.settings({ cores: 1 }), values);
      return [provider.create(account, values, { clock, directory: join(config.dataDir, id) })];
    }),
  );
}

/** Names what an operator must set to switch a provider on, such as `OPENAI_API_KEY`, and has not. Undefined for an unknown id. */
export function providerNeeds(id: string, values?: ValuesOf<SettingTable>): readonly string[] | undefined {
  return PROVIDERS.find((provider) => provider.id === id)?.needs(values);
}
