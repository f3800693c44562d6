import type { Config } from "../config/config.ts";
import type { LaneId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Log, SteadyClock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { createProviders } from "../providers/registry.ts";
import { openKey } from "../runtime/kept-keys.ts";
import { createLanes } from "../scheduler/lanes.ts";
import { createPace } from "../scheduler/pace.ts";
import { createSecret } from "../toolkit/settings/secret.ts";
import { sealOf } from "./data-folder.ts";
import type { Releases } from "./lifecycle.ts";
import { keptKeyOf } from "./settings.ts";

/** The accounts at providers that are switched on, and how to choose among those of one provider. */
export async function openProviders(
  config: Config,
  deps: {
    readonly clock: SteadyClock;
    readonly log: Log;
    readonly tasks: TaskStore;
    /** In place of those of the configuration. */
    readonly adapters: readonly ProviderAdapter[] | undefined;
  },
  releases: Releases,
) {
  const { clock, log, tasks } = deps;
  const adapters = deps.adapters ?? (await createProviders({ config, clock, unseal: unsealer(config, log) }));
  releases.push(async () => {
    for (const adapter of adapters) await adapter.stop?.();
  });
  const providers: ReadonlyMap<LaneId, ProviderAdapter> = new Map(
    adapters.map((adapter) => [adapter.lane, adapter]),
  );
  const pace = createPace({ clock, rates: (lane) => providers.get(lane)?.rates });
  return { providers, pace, lanes: createLanes({ adapters, tasks, isSlowed: pace.isSlowed }) };
}

/** Opens the kept keys of accounts, and says which no key opens. */
function unsealer(config: Config, log: Log) {
  const seal = sealOf(config);
  return (lane: LaneId) => {
    const kept = openKey(keptKeyOf(config.dataDir, lane), seal);
    if (kept === undefined) {
      const way =
        "give SVC_SECRET_KEY or SVC_SECRET_KEY_PREVIOUS that key, or keep it anew with `svc providers add`";
      log.error(
        { provider: lane },
        `the kept key of ${lane} is sealed with another key, so it stays off: ${way}`,
      );
      return undefined;
    }
    return Object.fromEntries(Object.entries(kept).map(([name, secret]) => [name, createSecret(secret)]));
  };
}
