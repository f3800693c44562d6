import type { Config } from "../config/config.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { ManagedProviders } from "../domain/ports/managed-providers.ts";
import type { RouteStore } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { createManagedProviders } from "./managed-providers.ts";
import { createFormReading } from "./own-form-reading.ts";
import { readOwnProviders } from "./own-providers.ts";
import type { Rooms } from "./rooms.ts";

interface ServedDeps extends Pick<Rooms, "adapters" | "ownProviders"> {
  readonly config: Config;
  readonly clock: Clock;
  readonly catalog: Pick<Catalog, "all">;
  readonly routes: Pick<RouteStore, "troubles">;
}

/** The providers of this server, as they are in force. */
export function createServedProviders(deps: ServedDeps): ManagedProviders {
  const { config, clock, catalog, routes, adapters, ownProviders } = deps;
  return createManagedProviders({
    ...{ config, clock },
    own: async () => ownProviders(),
    problems: () =>
      problemsOf(
        config,
        ownProviders().map(({ form }) => form.file),
      ),
    models: async () => catalog.all(),
    troubles: () => routes.troubles(),
    adapters: async ({ id }) => ({
      adapters: adapters().filter((adapter) => adapter.id === id),
      release: async () => {},
    }),
  });
}

/** Read in a thread, where there are files at all: a large one takes long. */
async function problemsOf(config: Config, inForce: readonly string[]): Promise<readonly string[]> {
  const reading = createFormReading();
  try {
    return (await readOwnProviders(config, { read: reading.read, inForce })).problems;
  } finally {
    reading.stop();
  }
}
