import { existsSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { LaneId, ProviderId } from "../domain/ids.ts";
import type { NeedsOf } from "../domain/model/availability.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { presentManagedTrace } from "../http/admin/tasks/present.ts";
import { createFacadeParts } from "../http/facades/callback-forms.ts";
import { PROVIDERS, providerNeeds } from "../providers/registry.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { createCallbackFeed } from "../runtime/signals.ts";
import { createManageCallbacks } from "../service/manage-callbacks.ts";
import { createManageModels } from "../service/manage-models.ts";
import { createManagePrices } from "../service/manage-prices.ts";
import { notFound } from "../service/management.ts";
import { findTrace } from "../service/read-trace.ts";
import type { Store } from "../store/open.ts";
import { configuredPricesOf, type Pricing } from "./configured-prices.ts";
import { type Folder, sealOf } from "./data-folder.ts";
import { localActor } from "./local-actor.ts";
import { problemText, readOwnModels } from "./own-models.ts";
import { OWN_PROVIDERS } from "./settings.ts";

export type LocalSettings = Folder &
  Pricing &
  Partial<Pick<Config, "publicUrl" | "providers" | "accounts" | "egress" | "providerConfig" | "moderation">>;

/** The models, their prices and the callbacks of a data folder. */
export function createLocalModels(store: Store, config: LocalSettings, clock: Clock) {
  let read: ReturnType<typeof ownProvidersOf> | undefined;
  const look = async () => {
    read ??= ownProvidersOf(config);
    const own = await read;
    return { own, ids: [...new Set([...PROVIDERS.map(({ id }) => id), ...own.needs.keys()])] };
  };
  const priced = async () => {
    const { ids } = await look();
    const { models } = readOwnModels(config, ids);
    const catalog = createCatalog({ models, providers: ids });
    const configuredPrices = configuredPricesOf(config, catalog).prices;
    return { catalog, configuredPrices, prices: store.prices, clock };
  };
  return {
    /** What is wrong with the operator's own providers and models, a line each. */
    async modelProblems() {
      const { own, ids } = await look();
      return [...own.problems, ...readOwnModels(config, ids).problems.map(problemText)];
    },
    prices: async () => createManagePrices({ ...(await priced()), actor: localActor() }),
    async models() {
      const { own } = await look();
      const needsOf: NeedsOf = (id) => own.needs.get(id) ?? providerNeeds(id, config) ?? [id];
      // A server may have keys in variables that are not set here.
      const lanesOf = (id: ProviderId) => {
        const lanes = own.lanes.get(id) ?? (config.accounts?.[id] ?? []).map(({ lane }) => lane);
        return lanes.length === 0 ? undefined : lanes;
      };
      return createManageModels({ ...(await priced()), needsOf, lanesOf, routes: store.routes });
    },
    /** The trace of a task as an operator reads it. @throws AppError `not_found` */
    async trace(id: string) {
      const trace = (await findTrace({ tasks: store.tasks, clock }, id)) ?? notFound("task", id);
      return presentManagedTrace(trace, config.publicUrl ?? trace.task.origin);
    },
    callbacks: () =>
      createManageCallbacks({
        actor: localActor(),
        clock,
        ...store,
        publicUrl: config.publicUrl,
        ...createFacadeParts({
          ...{ tasks: store.tasks, catalog: createCatalog(), clock },
          ...{ secrets: createSecrets(), seal: sealOf(config) },
        }),
        redeliveries: createCallbackFeed(),
        callbacksDue: () => {},
      }),
  };
}

/** The providers that the data folder describes, with what switches each on and is missing. */
async function ownProvidersOf({ dataDir, egress, providerConfig }: LocalSettings) {
  const needs = new Map<ProviderId, readonly string[]>();
  const lanes = new Map<ProviderId, readonly LaneId[]>();
  const isNone = !existsSync(join(dataDir, OWN_PROVIDERS));
  if (egress === undefined || providerConfig === undefined || isNone) return { needs, lanes, problems: [] };
  // Loaded late, because it contains the built-in forms and the checks of others.
  const { readOwnProviders } = await import("./own-providers.ts");
  const { providers, problems } = await readOwnProviders({ dataDir, egress, providerConfig });
  for (const { definition, given } of providers) {
    const isOn = given !== undefined && given.accounts.length > 0;
    needs.set(definition.id, isOn ? [] : definition.needs(given?.values));
    lanes.set(
      definition.id,
      (given?.accounts ?? []).map(({ lane }) => lane),
    );
  }
  return { needs, lanes, problems: problems.map(({ text }) => text) };
}
