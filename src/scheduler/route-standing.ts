import type { RouteOfLane, RouteStore } from "../domain/ports/route-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

/** What an upstream is asked for: to take a task, or what became of one. */
type Asked = "submission" | "poll";

/** Learns whether routes work. */
export interface RouteStanding {
  /** The upstream refuses us, which only the operator can put right. */
  refused(route: RouteOfLane, asked: Asked, detail: string): void;
  /**
   * The upstream gave what it was asked for. Its answers to polls say nothing of whether it takes tasks: an account may be spent while
   * its jobs go on.
   */
  worked(route: RouteOfLane, asked: Asked): void;
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
    refused({ lane, upstreamModel }: RouteOfLane, asked: Asked, detail: string): void {
      const key = keyOf({ lane, upstreamModel });
      const before = refused.get(key);
      refused.set(key, before === "submission" ? before : asked);
      if (before !== undefined) return;
      log.error(
        { provider: lane, upstream_model: upstreamModel, detail },
        `${lane} refuses us ${upstreamModel}; its tasks fail until its key, account or model is put right`,
      );
      keep(routes.set({ lane, upstreamModel, detail, since: clock.now() }));
    },
    worked({ lane, upstreamModel }: RouteOfLane, asked: Asked): void {
      if (refused.size === 0) return;
      const key = keyOf({ lane, upstreamModel });
      const before = refused.get(key);
      if (before === undefined || (before === "submission" && asked === "poll")) return;
      refused.delete(key);
      log.info({ provider: lane, upstream_model: upstreamModel }, `${lane} takes ${upstreamModel} again`);
      keep(routes.clear({ lane, upstreamModel }));
    },
  };
}

function keyOf({ lane, upstreamModel }: RouteOfLane): string {
  return `${lane} ${upstreamModel}`;
}
