import type { Config } from "../config/config.ts";
import type { Actor } from "../domain/access/actor.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { ManagedProviders } from "../domain/ports/managed-providers.ts";
import type { RouteStore } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Rooms } from "./rooms.ts";

interface ServedDeps extends Pick<Rooms, "adapters" | "ownProviders"> {
  readonly standing: Pick<Rooms["standing"], "proved">;
  readonly config: Config;
  readonly clock: Clock;
  readonly catalog: Pick<Catalog, "all">;
  readonly routes: Pick<RouteStore, "troubles">;
}

/** The providers of this server in their present state. The code that describes them is loaded at the first question. */
export function createServedProviders(deps: ServedDeps, actor: Actor): ManagedProviders {
  const { config, clock, catalog, routes, adapters, ownProviders, standing } = deps;
  const managed = async () => {
    const { createManagedProviders } = await import("./managed-providers.ts");
    return createManagedProviders({
      ...{ actor, config, clock },
      own: async () => ownProviders().providers,
      problems: async () => ownProviders().problems,
      models: async () => catalog.all(),
      troubles: () => routes.troubles(),
      onProved: (lane, act) => standing.proved(lane, act),
      isOn: (lane) => adapters().some((adapter) => adapter.lane === lane),
      adapters: async ({ definition: { id } }) => ({
        adapters: adapters().filter((adapter) => adapter.id === id),
        faults: new Map(),
        release: async () => {},
      }),
    });
  };
  return {
    list: async () => (await managed()).list(),
    read: async (id) => (await managed()).read(id),
    test: async (id, account) => (await managed()).test(id, account),
  };
}
