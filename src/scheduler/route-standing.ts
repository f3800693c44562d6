import type { RouteName } from "../domain/model/model.ts";
import type { RouteStore } from "../domain/ports/route-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

/** What an upstream is asked for: to take a task, or what became of one. */
type Asked = "submission" | "poll";

/** Learns whether routes work. */
export interface RouteStanding {
  /** The upstream refuses us, which only the operator can put right. */
  refused(route: RouteName, asked: Asked, detail: string): void;
  /**
   * The upstream gave what it was asked for. Its answers to polls say nothing of whether it takes tasks: an account may be spent while
   * its jobs go on.
   */
  worked(route: RouteName, asked: Asked): void;
}

/**
 * Tells the operator of routes whose upstream refuses us: once in the log when that begins and once when it ends, and through the
 * store for as long as it lasts.
 */
export function createRouteStanding(deps: { routes: RouteStore; clock: Clock; log: Log }) {
  const { routes, clock, log } = deps;
  const refused = new Map<string, Asked>();
  const keep = (writing: Promise<void>) =>
    void writing.catch((error: unknown) =>
      log.error({ err: error as Error }, "what became of a route could not be stored"),
    );
  return {
    /** Reads what an earlier process knew. */
    async start(): Promise<void> {
      for (const route of await routes.troubles()) refused.set(keyOf(route), "submission");
    },
    refused({ provider, upstreamModel }: RouteName, asked: Asked, detail: string): void {
      const key = keyOf({ provider, upstreamModel });
      const before = refused.get(key);
      refused.set(key, before === "submission" ? before : asked);
      if (before !== undefined) return;
      log.error(
        { provider, upstream_model: upstreamModel, detail },
        `${provider} refuses us ${upstreamModel}; its tasks fail until its key, account or model is put right`,
      );
      keep(routes.set({ provider, upstreamModel, detail, since: clock.now() }));
    },
    worked({ provider, upstreamModel }: RouteName, asked: Asked): void {
      if (refused.size === 0) return;
      const key = keyOf({ provider, upstreamModel });
      const before = refused.get(key);
      if (before === undefined || (before === "submission" && asked === "poll")) return;
      refused.delete(key);
      log.info({ provider, upstream_model: upstreamModel }, `${provider} takes ${upstreamModel} again`);
      keep(routes.clear({ provider, upstreamModel }));
    },
  };
}

function keyOf({ provider, upstreamModel }: RouteName): string {
  return `${provider} ${upstreamModel}`;
}
