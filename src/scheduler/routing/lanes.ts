import type { LaneId } from "../../domain/ids.ts";
import { providerOf } from "../../domain/lane.ts";
import type { LaneCapacity } from "../../domain/ports/claims.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";

/**
 * The lanes of these adapters. Accounts of one provider help each other, and take over tasks that wait for an account that no
 * longer exists.
 *
 * @param queued lanes that tasks wait for
 */
export function laneCapacities(
  adapters: readonly ProviderAdapter[],
  queued: readonly LaneId[] = [],
): LaneCapacity[] {
  const all = [...new Set([...adapters.map(({ lane }) => lane), ...queued])];
  return adapters.map(({ id, lane, concurrency }) => {
    const siblings = all.filter((each) => each !== lane && providerOf(each) === id);
    return { lane, capacity: concurrency, ...(siblings.length === 0 ? {} : { siblings }) };
  });
}
