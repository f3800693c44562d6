import type { AttemptCounts, History, RouteHistory, StageHistory, StageTimes } from "../domain/history.ts";
import { OTHER } from "../domain/metrics.ts";
import type { EndedTask } from "../domain/overview.ts";
import type { EndedAttempt, EndedStage, Tally } from "../domain/ports/tally.ts";
import { bucketOf, DURATION_BUCKETS, quantileMs } from "./duration-buckets.ts";
import { Minutes } from "./minutes.ts";
import { createSlidingSums, type SlidingSums } from "./sliding-sums.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Most routes that are counted separately; the others are counted as one. */
const MOST_ROUTES = 200;
const STAGES = ["queued", "submitting", "running", "finalizing"] as const satisfies EndedStage["stage"][];

/** Sums of the last hour, to the minute, and of the last day, to the hour. */
interface Windows {
  readonly hour: SlidingSums;
  readonly day: SlidingSums;
}

/**
 * Counts how the service does, for a day, in memory of a fixed size: 200 KB for the minutes, 150 KB for each stage and 2 KB for each route.
 */
export function createHistory(elapsed: () => number) {
  const minutes = new Minutes();
  const open = (width: number): Windows => ({
    hour: createSlidingSums({ slots: 60, slotMs: MINUTE_MS, width, elapsed }),
    day: createSlidingSums({ slots: 24, slotMs: HOUR_MS, width, elapsed }),
  });
  const stages = new Map<EndedStage["stage"], Windows>();
  const routes = new Map<string, Windows & Pick<RouteHistory, "lane" | "upstreamModel">>();

  function routeOf({ lane, upstreamModel }: EndedAttempt): Windows {
    const name = `${lane} ${upstreamModel}`;
    const known = routes.get(name);
    if (known !== undefined) return known;
    const isOne = routes.size < MOST_ROUTES;
    const route = isOne ? { lane, upstreamModel } : ({ lane: OTHER, upstreamModel: OTHER } as const);
    return routes.getOrInsertComputed(isOne ? name : OTHER, () => ({ ...open(2), ...route }));
  }

  const tally = {
    answered: (status: number) => minutes.answered(status),
    created: () => minutes.add("created"),
    ended: ({ status }: EndedTask) => minutes.add(status),
    stageEnded({ stage, durationMs }: EndedStage): void {
      const { hour, day } = stages.getOrInsertComputed(stage, () => open(DURATION_BUCKETS));
      const bucket = bucketOf(durationMs);
      hour.add(bucket, 1);
      day.add(bucket, 1);
    },
    attemptEnded(attempt: EndedAttempt): void {
      // Nobody's fault.
      if (attempt.outcome === "cancelled") return;
      const { hour, day } = routeOf(attempt);
      const place = attempt.outcome === "completed" ? 0 : 1;
      hour.add(place, 1);
      day.add(place, 1);
    },
    lagged: (durationMs: number) => minutes.lagged(durationMs),
  } satisfies Partial<Tally>;

  return {
    tally,
    endMinute: minutes.end.bind(minutes),
    /** @param most minutes, ≥ 1 */
    read: (most: number): History => ({
      ...minutes.read(most),
      stages: STAGES.map((stage): StageHistory => {
        const windows = stages.get(stage);
        return { stage, hour: timesOf(windows?.hour), day: timesOf(windows?.day) };
      }),
      routes: [...routes]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { hour, day, ...route }]) => ({ ...route, hour: endsOf(hour), day: endsOf(day) })),
    }),
  };
}

function timesOf(sums: SlidingSums | undefined): StageTimes {
  const counts = sums?.read() ?? [];
  let count = 0;
  for (let i = 0; i < counts.length; i += 1) count += counts[i] ?? 0;
  return { count, p50Ms: quantileMs(counts, 0.5), p95Ms: quantileMs(counts, 0.95) };
}

function endsOf(sums: SlidingSums): AttemptCounts {
  const [completed = 0, failed = 0] = sums.read();
  return { completed, failed };
}
