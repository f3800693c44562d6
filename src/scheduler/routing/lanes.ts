import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { LaneCapacity } from "../../domain/ports/task-store.ts";

/** The lanes of these adapters. Accounts of one provider help each other out. */
export function laneCapacities(adapters: readonly ProviderAdapter[]): LaneCapacity[] {
  return adapters.map(({ id, lane, concurrency }) => {
    const siblings = adapters.filter((each) => each.id === id && each.lane !== lane).map((each) => each.lane);
    return { lane, capacity: concurrency, ...(siblings.length === 0 ? {} : { siblings }) };
  });
}
