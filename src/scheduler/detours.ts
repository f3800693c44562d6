import type { LaneId, ProviderId } from "../domain/ids.ts";
import { providerOf } from "../domain/lane.ts";
import type { LaneCapacity } from "../domain/ports/claims.ts";
import { WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import type { StepDeps } from "./step.ts";

/** A shorter pause is waited for. */
const WORTH_MS = 5_000;

/**
 * How many tasks may start in a lane now, as `LaneCapacity.starts` has it. While its upstream has paused the account, these are as many as
 * other providers have room for at once, if models here lead there too. Such a task is claimed, and then goes there; one that has no
 * other way is put off with those like it.
 */
export function startsOf(
  deps: Pick<StepDeps, "pace" | "catalog" | "loads">,
  place: LaneCapacity,
  lanes: readonly LaneCapacity[],
): number | undefined {
  const { pace, loads } = deps;
  const { lane, siblings = [] } = place;
  const starts = pace.starts(lane);
  if (starts !== 0 || pace.pausedMs({ lane, upstreamModel: WHOLE_ACCOUNT }) < WORTH_MS) return starts;
  // Another account of the provider takes them over.
  if (siblings.some((sibling) => pace.starts(sibling) !== 0)) return starts;
  const others = othersBeside(deps, lane);
  return lanes
    .filter((other) => others.has(providerOf(other.lane)))
    .map((other) => Math.min(loads.free(other.lane), pace.starts(other.lane) ?? Number.POSITIVE_INFINITY))
    .reduce((sum, free) => sum + free, 0);
}

/** The other providers that models of the lane have routes to. */
function othersBeside({ catalog }: Pick<StepDeps, "catalog">, lane: LaneId): ReadonlySet<ProviderId> {
  const own = providerOf(lane);
  const models = catalog.models().filter(({ routes }) => routes.some(({ provider }) => provider === own));
  const all = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
  all.delete(own);
  return all;
}
