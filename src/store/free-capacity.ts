import type { LaneId } from "../domain/ids.ts";
import { MOST_AWAITING_RESULTS } from "../domain/limits.ts";
import type { ClaimQuery, LaneCapacity } from "../domain/ports/claims.ts";

/** How many tasks may still start; decreases as tasks are taken. */
export interface FreeCapacity {
  total: number;
  readonly lanes: Map<LaneId, number>;
}

/** The tasks under way of a lane that has any, and how many of them await their results. */
export interface LaneUse {
  readonly lane: LaneId;
  readonly count: number;
  readonly awaiting?: number | undefined;
}

export function freeCapacity(
  query: Pick<ClaimQuery, "lanes" | "capacity">,
  counts: readonly LaneUse[],
): FreeCapacity {
  const used = new Map(counts.map((use) => [use.lane, placesOf(use)]));
  const lanes = query.lanes.map((place) => ({ ...place, used: used.get(place.lane) ?? 0 }));
  return {
    // Tasks of a provider that is switched off only wait for that provider. They take no capacity from others.
    total: query.capacity - lanes.reduce((sum, lane) => sum + lane.used, 0),
    lanes: new Map(
      lanes.map(({ lane, capacity, used, starts = capacity }) => [lane, Math.min(capacity - used, starts)]),
    ),
  };
}

function placesOf({ count, awaiting = 0 }: LaneUse): number {
  return count - Math.min(awaiting, MOST_AWAITING_RESULTS);
}

/** The lanes whose queued tasks may start: lanes with room, and lanes without room if a sibling has some. */
export function sources({ lanes }: ClaimQuery, free: FreeCapacity): readonly LaneId[] {
  const open = lanes.filter(({ lane }) => hasRoom(free, lane));
  return [...new Set(open.flatMap((place) => [place.lane, ...fullSiblings(place, free)]))];
}

export function fullSiblings({ siblings = [] }: LaneCapacity, free: FreeCapacity): readonly LaneId[] {
  return siblings.filter((lane) => !hasRoom(free, lane));
}

/** @param beside how many places must be left besides */
export function hasRoom(free: FreeCapacity, lane: LaneId, beside = 0): boolean {
  return free.total > beside && (free.lanes.get(lane) ?? 0) > beside;
}

export function occupy(free: FreeCapacity, lane: LaneId): void {
  free.total -= 1;
  free.lanes.set(lane, (free.lanes.get(lane) ?? 0) - 1);
}

export function rotated<T>(items: readonly T[], by: number): T[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
