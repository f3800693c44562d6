import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { Act } from "../domain/access/actor.ts";
import type { ProviderId } from "../domain/ids.ts";
import { standingFrom } from "../domain/model/standing.ts";
import type { ManagedProvider } from "../domain/ports/managed-providers.ts";
import type { ManagedRoutes } from "../domain/ports/managed-routes.ts";
import {
  isWithin,
  type RouteOfLane,
  type RouteStore,
  type RouteTrouble,
} from "../domain/ports/route-store.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { createManageRoutes } from "../service/manage-routes.ts";
import { localActor } from "./local-actor.ts";
import { openLocalProviders } from "./local-providers.ts";
import { openLocalStore } from "./local-store.ts";
import { readOwnModels } from "./own-models.ts";

/** The ways of a data folder. */
export interface LocalRoutes extends ManagedRoutes {
  /** The providers that models have routes to, and that are switched off with these settings and variables. */
  switchedOff(): Promise<readonly Pick<ManagedProvider, "id" | "needs">[]>;
  stop(): Promise<void>;
}

/**
 * The ways of a data folder, according to its database. A running server applies blocks and permissions. Stop it after use.
 *
 * @throws Error when the folder has no database
 */
export async function openLocalRoutes(config: Config): Promise<LocalRoutes> {
  const clock = createSystemClock();
  const opened = await openLocalStore(config, { ids: createIds(clock) });
  const store = await opened.all();
  const listing = openLocalProviders(config).list();
  const ids = async () => (await listing).providers.map(({ id }) => id as ProviderId);
  return {
    ...createManageRoutes({
      actor: localActor(),
      providers: ids,
      async models() {
        const providers = await ids();
        return createCatalog({ models: readOwnModels(config, providers).models, providers }).all();
      },
      async accounts() {
        const { providers } = await listing;
        return providers.flatMap(({ id, accounts }) =>
          accounts.map(({ lane, concurrency }) => ({ provider: id as ProviderId, lane, concurrency })),
        );
      },
      async standings() {
        const troubles = await store.routes.troubles();
        return (route) => standingFrom(troubles, route, clock.now());
      },
      loads: () => store.tasks.lanes(),
      spentSince: store.usage.spentSince,
      clock,
      block: (route, detail, act) => store.routes.set(blocked(route, detail, clock.now()), act),
      allow: (route, act) => clearAll(store.routes, route, act),
    }),
    switchedOff: async () =>
      (await listing).providers.filter(({ needs, models }) => needs.length > 0 && models.length > 0),
    stop: opened.stop,
  };
}

function blocked(route: RouteOfLane, detail: string, since: number): RouteTrouble {
  return { ...route, kind: "blocked", detail, since, times: 1 };
}

/** Forgets as a server does; see `RouteStanding.allow`. */
async function clearAll(routes: RouteStore, route: RouteOfLane, act: Act): Promise<void> {
  const known = (await routes.troubles()).filter((each) => isWithin(each, route));
  for (const { lane, upstreamModel } of known) await routes.clear({ lane, upstreamModel }, act);
}
