import type { Actor } from "../domain/access/actor.ts";
import type { ManagedRoutes } from "../domain/ports/managed-routes.ts";
import type { Counts } from "../domain/ports/tally.ts";
import { createManageRoutes } from "../service/manage-routes.ts";
import type { Rooms } from "./rooms.ts";

interface ServedDeps
  extends Pick<
    Rooms,
    "adapters" | "catalog" | "providerIds" | "standing" | "standingNow" | "figuresOf" | "store" | "clock"
  > {
  readonly tally: Pick<Counts, "hourOf">;
}

/** The ways of this server, as they are in force. */
export function createServedRoutes(deps: ServedDeps, actor: Actor): ManagedRoutes {
  const { adapters, catalog, providerIds, standing, standingNow, figuresOf, store, tally, clock } = deps;
  return createManageRoutes({
    actor,
    models: async () => catalog.all(),
    providers: async () => providerIds(),
    accounts: async () =>
      adapters().map(({ id: provider, lane, concurrency }) => ({ provider, lane, concurrency })),
    standings: async () => standingNow,
    loads: () => store.tasks.lanes(),
    spentSince: store.usage.spentSince,
    clock,
    figures: figuresOf,
    counts: tally,
    block: (route, detail, act) => standing.block(route, detail, act),
    allow: (route, act) => standing.allow(route, act),
  });
}
