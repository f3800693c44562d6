import { join } from "node:path";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { SettingTable, ValuesOf } from "../toolkit/settings/setting.ts";
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

/** Loads the providers that are switched on. Nothing is opened before one is first used. */
export async function createProviders(deps: {
  readonly config: ProvidersConfig;
  readonly clock: Clock;
}): Promise<ProviderAdapter[]> {
  const { config, clock } = deps;
  const adapters = await Promise.all(
    PROVIDERS.map(({ id, create }) =>
      create(config.providers[id], { clock, directory: join(config.dataDir, id) }),
    ),
  );
  return adapters.flatMap((adapter) => adapter ?? []);
}

/** Names what an operator must set to switch a provider on, such as `OPENAI_API_KEY`, and has not. Undefined for an unknown id. */
export function providerNeeds(id: string, values?: ValuesOf<SettingTable>): readonly string[] | undefined {
  return PROVIDERS.find((provider) => provider.id === id)?.needs(values);
}
