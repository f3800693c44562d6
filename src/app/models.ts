import { builtInModels, createCatalog, type LiveCatalog, type Relay } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { PriceRule } from "../domain/model/model.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { readConfiguredPrices } from "../service/configured-prices.ts";
import { aliasWarnings } from "./alias-warnings.ts";
import { configuredPricesOf } from "./configured-prices.ts";
import { createLackTelling } from "./lack-telling.ts";
import type { Releases } from "./lifecycle.ts";
import { followOwnModels } from "./own-models.ts";

interface ModelsDeps {
  readonly isEnabled: (provider: ProviderId) => boolean;
  readonly takesFiles: (provider: ProviderId) => boolean;
  readonly relays: () => readonly Relay[];
  /** The present providers. */
  readonly providers: () => readonly ProviderId[];
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** The accounts that are asked what they lack for models. */
  readonly adapters?: () => readonly ProviderAdapter[];
}

/**
 * Opens the catalogue: the built-in models and those of the data folder, which it follows from then on, with the prices that the
 * settings file has for them.
 *
 * @throws ConfigError when those prices cannot be used
 */
export function openModels(config: Config, deps: ModelsDeps, releases: Releases) {
  const { isEnabled, takesFiles, relays, clock, log, providers, adapters = () => [] } = deps;
  const builtIn = builtInModels();
  const catalog = createCatalog({ isEnabled, takesFiles, relays, providers: providers(), models: builtIn });
  const configuredPrices = new Map<ModelId, PriceRule>();
  const tellLacks = createLackTelling({ adapters, log }, releases);
  const onReplaced = () => {
    refreshPrices(config, catalog, configuredPrices, log);
    void catalog.warm();
    tellLacks(catalog.all());
  };
  const own = followOwnModels(config, { builtIn, catalog, clock, log, providers, onReplaced });
  releases.push(own.stop);
  const { prices, warnings } = configuredPricesOf(config, catalog);
  for (const [id, rule] of prices) configuredPrices.set(id, rule);
  // Whoever misspelt one would see no more than callers that are refused.
  const tellAliases = () => {
    for (const warning of aliasWarnings(config, catalog)) log.warn({}, warning);
  };
  for (const warning of warnings) log.warn({}, warning);
  tellAliases();
  tellLacks(catalog.all());
  const takePrices = () => refreshPrices(config, catalog, configuredPrices, log);
  return { catalog, configuredPrices, takePrices, tellAliases, onProvidersChanged: own.takeAgain };
}

/** The prices of the settings file are unchanged, but models may have changed. A price that no longer fits is not in force. */
function refreshPrices(
  { pricing }: Config,
  catalog: LiveCatalog,
  configuredPrices: Map<ModelId, PriceRule>,
  log: Log,
): void {
  const { prices, problems, warnings } = readConfiguredPrices(catalog, pricing);
  configuredPrices.clear();
  for (const [id, rule] of prices) configuredPrices.set(id, rule);
  for (const { path, message } of problems) log.warn({}, `pricing.${path} ${message}; it is not in force`);
  for (const warning of warnings) log.warn({}, warning);
}
