import type { Config } from "../config/config.ts";
import type { LaneId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { SteadyClock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { createProviders } from "../providers/registry.ts";
import { createLanes } from "../scheduler/lanes.ts";
import type { Releases } from "./lifecycle.ts";

/** The accounts at providers that are switched on, and how to choose among those of one provider. */
export async function openProviders(
  config: Config,
  deps: {
    readonly clock: SteadyClock;
    readonly tasks: TaskStore;
    /** In place of those of the configuration. */
    readonly adapters: readonly ProviderAdapter[] | undefined;
  },
  releases: Releases,
) {
  const { clock, tasks } = deps;
  const adapters = deps.adapters ?? (await createProviders({ config, clock }));
  releases.push(async () => {
    for (const adapter of adapters) await adapter.stop?.();
  });
  const providers: ReadonlyMap<LaneId, ProviderAdapter> = new Map(
    adapters.map((adapter) => [adapter.lane, adapter]),
  );
  return { providers, lanes: createLanes({ adapters, tasks, isSlowed: () => false }) };
}
