import type { LaneId } from "../../domain/ids.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";

type Made = Pick<GenerationRequest, "model" | "mode">;

/** How long ways took for a model and a mode within the last hour. Kept in memory. */
export interface Durations {
  /** The median time of the latest tasks, in milliseconds; undefined if fewer than `LEAST` are known. */
  median(lane: LaneId, upstreamModel: string, made: Made): number | undefined;
  /** The quantile of the latest tasks' times for a share from 0 to 1. */
  quantile(lane: LaneId, upstreamModel: string, part: number): number | undefined;
  took(lane: LaneId, upstreamModel: string, made: Made, ms: number): void;
}

/** Fewer tasks do not predict the next one. Until then a way counts as fast, so that it is tried. */
const LEAST = 3;
const KEPT = 100;
const HOUR_MS = 3_600_000;

interface Took {
  readonly at: number;
  readonly ms: number;
}

interface Kind {
  readonly all: Took[];
  /** The median, kept as long as it is valid, because every choice asks for it. */
  half?: { readonly ms: number | undefined; readonly until: number } | undefined;
}

type Kinds = Map<string, Map<string, Kind>>;

export function createDurations({ clock }: { readonly clock: Pick<Clock, "elapsed"> }): Durations {
  /**
   * By account, its name of the model, model and mode. The maps are nested, because every choice looks up each way and joining
   * names takes longer.
   */
  const lanes = new Map<LaneId, Map<string, Kinds>>();
  const kindsOf = (lane: LaneId, upstreamModel: string) => lanes.get(lane)?.get(upstreamModel);

  function quantile(all: readonly Took[], part: number): number | undefined {
    const since = clock.elapsed() - HOUR_MS;
    const recent = all.filter(({ at }) => at >= since).map(({ ms }) => ms);
    if (recent.length < LEAST) return undefined;
    return recent.sort((a, b) => a - b)[Math.min(recent.length - 1, Math.floor(recent.length * part))];
  }

  function halfOf(kind: Kind): number | undefined {
    const now = clock.elapsed();
    if (kind.half === undefined || now > kind.half.until) {
      const oldest = kind.all.find(({ at }) => at >= now - HOUR_MS);
      const until = (oldest?.at ?? Number.POSITIVE_INFINITY) + HOUR_MS;
      kind.half = { ms: quantile(kind.all, 0.5), until };
    }
    return kind.half.ms;
  }

  return {
    median(lane, upstreamModel, { model, mode }) {
      const kind = kindsOf(lane, upstreamModel)?.get(model)?.get(mode);
      return kind && halfOf(kind);
    },
    quantile(lane, upstreamModel, part) {
      const modes = [...(kindsOf(lane, upstreamModel)?.values() ?? [])].flatMap((each) => [...each.values()]);
      const all = modes.flatMap(({ all }) => all);
      return quantile(all, part);
    },
    took(lane, upstreamModel, { model, mode }, ms) {
      const kind = lanes
        .getOrInsertComputed(lane, () => new Map<string, Kinds>())
        .getOrInsertComputed(upstreamModel, (): Kinds => new Map())
        .getOrInsertComputed(model, () => new Map<string, Kind>())
        .getOrInsertComputed(mode, () => ({ all: [] }));
      kind.all.push({ at: clock.elapsed(), ms });
      if (kind.all.length > KEPT) kind.all.shift();
      kind.half = undefined;
    },
  };
}
