import type { LaneId } from "../../domain/ids.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";

type Made = Pick<GenerationRequest, "model" | "mode">;

/** How long ways took for a model and a mode, in the last hour. Kept in memory. */
export interface Durations {
  /** Half of the latest tasks took no longer, in milliseconds; undefined where fewer than `LEAST` are known. */
  median(lane: LaneId, upstreamModel: string, made: Made): number | undefined;
  /** A part of the latest tasks, 0 to 1, took no longer. */
  quantile(lane: LaneId, upstreamModel: string, part: number): number | undefined;
  took(lane: LaneId, upstreamModel: string, made: Made, ms: number): void;
}

/** So few say nothing of the next one; until then a way counts as fast, so that it is tried. */
const LEAST = 3;
const KEPT = 100;
const HOUR_MS = 3_600_000;

interface Took {
  readonly at: number;
  readonly ms: number;
}

export function createDurations({ clock }: { readonly clock: Pick<Clock, "elapsed"> }): Durations {
  const ways = new Map<string, Map<string, Took[]>>();

  function quantile(all: readonly Took[], part: number): number | undefined {
    const since = clock.elapsed() - HOUR_MS;
    const recent = all.filter(({ at }) => at >= since).map(({ ms }) => ms);
    if (recent.length < LEAST) return undefined;
    return recent.sort((a, b) => a - b)[Math.min(recent.length - 1, Math.floor(recent.length * part))];
  }

  return {
    median: (lane, upstreamModel, made) =>
      quantile(ways.get(wayOf(lane, upstreamModel))?.get(kindOf(made)) ?? [], 0.5),
    quantile: (lane, upstreamModel, part) =>
      quantile([...(ways.get(wayOf(lane, upstreamModel))?.values() ?? [])].flat(), part),
    took(lane, upstreamModel, made, ms) {
      const kinds = ways.getOrInsertComputed(wayOf(lane, upstreamModel), () => new Map<string, Took[]>());
      const all = kinds.getOrInsertComputed(kindOf(made), () => []);
      all.push({ at: clock.elapsed(), ms });
      if (all.length > KEPT) all.shift();
    },
  };
}

const wayOf = (lane: LaneId, upstreamModel: string) => `${lane} ${upstreamModel}`;
const kindOf = ({ model, mode }: Made) => `${model} ${mode}`;
