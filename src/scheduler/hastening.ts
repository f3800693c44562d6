import type { LaneId } from "../domain/ids.ts";
import { providerOf } from "../domain/lane.ts";
import type { Model } from "../domain/model/model.ts";
import { type RouteOfLane, WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import type { Openings } from "./routing/openings.ts";
import type { StepDeps } from "./step.ts";

export interface HasteningDeps extends Pick<StepDeps, "catalog" | "tasks" | "clock" | "log"> {
  readonly openings: Openings;
}

/**
 * Has tasks look again that wait for a route when it gets tasks again: before an operator acts or a trial succeeds, nobody knows
 * when. They may wait in any lane of their models. Each node does so when it learns of it, since a node that has not learned of it
 * yet puts off again what another one has hastened.
 */
export function hastenWaiting(
  deps: HasteningDeps,
  lanes: () => readonly { readonly lane: LaneId }[],
  wake: () => void,
): void {
  const { openings, catalog, tasks, clock, log } = deps;

  async function hasten(opened: RouteOfLane): Promise<void> {
    const models = catalog.models().filter((model) => leadsTo(model, opened));
    for (const { lane } of lanes()) {
      const here = models.filter(({ routes }) => routes.some((route) => route.provider === providerOf(lane)));
      if (here.length === 0) continue;
      const count = await tasks.hasten({ lane, models: here.map(({ id }) => id) }, clock.now());
      if (count > 0) wake();
    }
  }

  openings.subscribe((opened) => {
    hasten(opened).catch((error: unknown) => {
      const fields = { err: error as Error, provider: opened.lane };
      log.warn(fields, "tasks that wait for a route look only later whether it is open");
    });
  });
}

function leadsTo({ routes }: Model, { lane, upstreamModel }: RouteOfLane): boolean {
  return routes.some(
    (route) =>
      route.provider === providerOf(lane) &&
      (route.account ?? lane) === lane &&
      (upstreamModel === WHOLE_ACCOUNT || route.upstreamModel === upstreamModel),
  );
}
