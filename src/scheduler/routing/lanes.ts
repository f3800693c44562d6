import type { LaneId } from "../../domain/ids.ts";
import { providerOf } from "../../domain/lane.ts";
import type { LaneCapacity } from "../../domain/ports/claims.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Clock, Log } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";

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

export interface LanesDeps {
  /** Those there are now; another list where they have changed. */
  readonly adapters: () => readonly ProviderAdapter[];
  readonly tasks: Pick<TaskStore, "queuedLanes">;
  readonly clock: Pick<Clock, "elapsed">;
  readonly log: Log;
}

/** How often to look for tasks of accounts that are gone here: other nodes may have them for longer, and create tasks for them. */
const LOOK_EVERY_MS = 10_000;

/**
 * Returns a function that gives the lanes of the present adapters. Accounts that are gone may have left tasks, and may get some more:
 * a create may have chosen its way before.
 *
 * @param wake called when lanes were found that nobody knew of
 */
export function createLanes({ adapters, tasks, clock, log }: LanesDeps, wake: () => void) {
  /** All that there ever were, and those that tasks have waited for. */
  const seen = new Set<LaneId>();
  let known: readonly ProviderAdapter[] = [];
  let capacities: readonly LaneCapacity[] = [];
  let lookAt = Number.NEGATIVE_INFINITY;

  function renew(): void {
    capacities = laneCapacities(known, [...seen]);
  }

  async function findLeft(): Promise<void> {
    const count = seen.size;
    for (const lane of await tasks.queuedLanes()) seen.add(lane);
    if (seen.size === count) return;
    renew();
    wake();
  }

  return (): readonly LaneCapacity[] => {
    const now = adapters();
    const isChanged = now !== known;
    if (isChanged) {
      known = now;
      for (const { lane } of now) seen.add(lane);
      renew();
    }
    if (isChanged || clock.elapsed() >= lookAt) {
      lookAt = clock.elapsed() + LOOK_EVERY_MS;
      findLeft().catch((error: unknown) =>
        log.error({ err: error as Error }, "tasks of accounts that are gone could not be looked for"),
      );
    }
    return capacities;
  };
}
