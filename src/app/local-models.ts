import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { NeedsOf } from "../domain/model/availability.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { PROVIDERS, providerNeeds } from "../providers/registry.ts";
import { createCallbackFeed } from "../runtime/signals.ts";
import { createManageCallbacks } from "../service/manage-callbacks.ts";
import { createManageModels } from "../service/manage-models.ts";
import { createManagePrices } from "../service/manage-prices.ts";
import type { Store } from "../store/open.ts";
import { configuredPricesOf, type Pricing } from "./configured-prices.ts";
import type { Folder } from "./data-folder.ts";
import { problemText, readOwnModels } from "./own-models.ts";

export type LocalSettings = Folder & Pricing & Partial<Pick<Config, "publicUrl" | "providers" | "accounts">>;

/** The models, their prices and the callbacks of a data folder. */
export function createLocalModels(store: Store, config: LocalSettings, clock: Clock) {
  const priced = () => {
    const { models } = readOwnModels(config);
    const catalog = createCatalog({ models, providers: PROVIDERS.map(({ id }) => id) });
    const configuredPrices = configuredPricesOf(config, catalog).prices;
    return { catalog, configuredPrices, prices: store.prices, clock };
  };
  const needsOf: NeedsOf = (id) => providerNeeds(id, config) ?? [id];
  return {
    /** What is wrong with the operator's own models, a line each. */
    modelProblems: () => readOwnModels(config).problems.map(problemText),
    prices: () => createManagePrices(priced()),
    models: () => createManageModels({ ...priced(), needsOf, routes: store.routes }),
    callbacks: () =>
      createManageCallbacks({
        ...store,
        publicUrl: config.publicUrl,
        redeliveries: createCallbackFeed(),
        callbacksDue: () => {},
      }),
  };
}
