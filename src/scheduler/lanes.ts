import type { LaneId, ProviderId } from "../domain/ids.ts";
import { roomiest } from "../domain/lane.ts";
import type { Lanes } from "../domain/ports/lanes.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { LaneCapacity, TaskStore } from "../domain/ports/task-store.ts";

/** The lanes of these adapters. Accounts of one provider help each other out. */
export function laneCapacities(adapters: readonly ProviderAdapter[]): LaneCapacity[] {
  return adapters.map(({ id, lane, concurrency }) => {
    const siblings = adapters.filter((each) => each.id === id && each.lane !== lane).map((each) => each.lane);
    return { lane, capacity: concurrency, ...(siblings.length === 0 ? {} : { siblings }) };
  });
}

/** The accounts of these adapters. Where a provider has several, the store says how much each has to do. */
export function createLanes(deps: {
  /** May be another list each time it is read; each list stays as it is. */
  readonly adapters: readonly ProviderAdapter[];
  readonly tasks: Pick<TaskStore, "lanes">;
  readonly isSlowed: (lane: LaneId) => boolean;
}): Lanes {
  let known: readonly ProviderAdapter[] = [];
  let grouped = new Map<ProviderId, ProviderAdapter[]>();
  let turn = 0;

  function ofProvider(provider: ProviderId): readonly ProviderAdapter[] {
    const { adapters } = deps;
    if (adapters !== known) grouped = Map.groupBy(adapters, ({ id }) => id);
    known = adapters;
    return grouped.get(provider) ?? [];
  }

  /** Starts with another account each time, so that tasks created together do not all go to the first. */
  function inTurn(accounts: readonly ProviderAdapter[]): readonly ProviderAdapter[] {
    const start = turn++ % accounts.length;
    return [...accounts.slice(start), ...accounts.slice(0, start)];
  }

  return {
    has: (provider: ProviderId) => ofProvider(provider).length > 0,
    async choose(provider) {
      const accounts = ofProvider(provider);
      if (accounts.length < 2) return accounts[0]?.lane;
      const loads = new Map(
        (await deps.tasks.lanes()).map(({ lane, queued, underWay }) => [lane, queued + underWay]),
      );
      return roomiest(
        inTurn(accounts).map(({ lane, concurrency: capacity }) => {
          return { lane, capacity, load: loads.get(lane) ?? 0, isSlowed: deps.isSlowed(lane) };
        }),
      );
    },
  };
}
