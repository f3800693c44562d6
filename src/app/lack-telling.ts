import type { Model } from "../domain/model/model.ts";
import { type ProviderAdapter, ProviderError } from "../domain/ports/provider.ts";
import type { Log } from "../domain/ports/runtime.ts";
import type { Releases } from "./lifecycle.ts";

interface LackDeps {
  readonly adapters: () => readonly ProviderAdapter[];
  readonly log: Pick<Log, "warn" | "debug" | "error">;
}

/**
 * Logs, once each, what accounts lack for the routes of models. Nothing waits for it. An account that does not answer is asked again
 * only after the models or the providers change.
 *
 * @returns a function that takes the present models
 */
export function createLackTelling({ adapters, log }: LackDeps, releases: Releases) {
  const told = new Set<string>();
  const ending = new AbortController();
  releases.push(() => ending.abort());

  async function ask(adapter: ProviderAdapter, models: readonly Model[]): Promise<void> {
    const { id, lane, lacks } = adapter;
    for (const model of models) {
      for (const route of model.routes) {
        if (lacks === undefined || route.provider !== id || (route.account ?? lane) !== lane) continue;
        for (const line of await lacks(route, ending.signal)) {
          const what = `${model.id} cannot run there: ${line}`;
          if (!told.has(`${lane} ${what}`)) log.warn({ provider: lane }, what);
          told.add(`${lane} ${what}`);
        }
      }
    }
  }

  return (models: readonly Model[]): void => {
    for (const adapter of adapters()) {
      ask(adapter, models).catch((error: unknown) => {
        if (ending.signal.aborted) return;
        if (error instanceof ProviderError)
          log.debug({ provider: adapter.lane, detail: error.message }, "not asked what it lacks");
        else
          log.error(
            { provider: adapter.lane, err: error as Error },
            "what an account lacks could not be found",
          );
      });
    }
  };
}
