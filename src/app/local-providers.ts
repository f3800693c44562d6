import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { Act } from "../domain/access/actor.ts";
import type { LaneId } from "../domain/ids.ts";
import type { ManagedProviders } from "../domain/ports/managed-providers.ts";
import { type RouteStore, type RouteTrouble, WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import { createAccounts, PROVIDERS } from "../providers/registry.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { localActor } from "./local-actor.ts";
import { hasDatabase, openLocalStore } from "./local-store.ts";
import { createManagedProviders } from "./managed-providers.ts";
import { readOwnModels } from "./own-models.ts";
import { readOwnProviders } from "./own-providers.ts";
import { createUnseal } from "./unseal.ts";

/**
 * The providers of a data folder, for commands that need no server. It may not be there yet.
 *
 * @param isReadOnly changes nothing there: a proved key stays refused, and no key is sealed again
 */
export function openLocalProviders(config: Config, { isReadOnly = false } = {}): ManagedProviders {
  const clock = createSystemClock();
  let read: ReturnType<typeof readOwnProviders> | undefined;
  const look = () => {
    read ??= readOwnProviders(config);
    return read;
  };
  const own = async () => (await look()).providers;
  return createManagedProviders({
    ...{ actor: localActor(), config, clock, own },
    problems: async () => (await look()).problems,
    models: async () => {
      const ids = [...PROVIDERS.map(({ id }) => id), ...(await own()).map(({ definition }) => definition.id)];
      return createCatalog({ models: readOwnModels(config, ids).models, providers: ids }).all();
    },
    troubles: async () => (isReadOnly ? [] : readTroubles(config)),
    onProved: async (lane, act) => (isReadOnly ? undefined : clearRefusal(config, lane, act)),
    isOn: () => true,
    async adapters({ definition, given = { values: {}, accounts: [] } }) {
      const faults = new Map<string, string>();
      const unseal = createUnseal(config, (lane, fault) => faults.set(lane, fault), { isReadOnly });
      const deps = { config, clock, unseal };
      const adapters = await createAccounts(definition, given, deps);
      const release = async () => {
        for (const adapter of adapters) await adapter.stop?.();
      };
      return { adapters, faults, release };
    },
  });
}

/** What a server has found wrong with routes. */
async function readTroubles(config: Config): Promise<RouteTrouble[]> {
  return (await withRouteStore(config, (routes) => routes.troubles())) ?? [];
}

/** A server that runs on the folder takes it up within two seconds. */
async function clearRefusal(config: Config, lane: LaneId, act: Act): Promise<void> {
  await withRouteStore(config, async (routes) => {
    const isIt = (each: RouteTrouble) => each.lane === lane && each.upstreamModel === WHOLE_ACCOUNT;
    const known = (await routes.troubles()).find(isIt);
    if (known?.kind === "refused") await routes.clear({ lane, upstreamModel: WHOLE_ACCOUNT }, act);
  });
}

/** @returns undefined where the folder has no database */
async function withRouteStore<Result>(
  config: Config,
  use: (routes: RouteStore) => Promise<Result>,
): Promise<Result | undefined> {
  if (!hasDatabase(config)) return undefined;
  const opened = await openLocalStore(config, { ids: createIds(createSystemClock()) });
  try {
    return await use((await opened.all()).routes);
  } finally {
    await opened.stop();
  }
}
