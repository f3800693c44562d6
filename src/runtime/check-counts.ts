import type { CheckCounts, Judged } from "../domain/overview.ts";
import { bucketOf, DURATION_BUCKETS, quantileMs } from "./duration-buckets.ts";
import { createSlidingSums, type SlidingSums } from "./sliding-sums.ts";

const MINUTES = 60;
const MINUTE_MS = 60_000;

/** The places of a check's sums. How long its verdicts took follows, in microseconds: many take less than a millisecond. */
const PLACES = { allowed: 0, refused: 1, outage: 2 } as const satisfies Record<Judged["verdict"], number>;
const DURATIONS = 3;

/** Counts verdicts by check and minute for an hour. The memory is fixed: about 100 KB for each check in use. */
export function createCheckCounts(elapsed: () => number) {
  const checks = new Map<string, SlidingSums>();
  const width = DURATIONS + DURATION_BUCKETS;
  const open = () => createSlidingSums({ slots: MINUTES, slotMs: MINUTE_MS, width, elapsed });
  return {
    add({ check, verdict, durationMs }: Judged): void {
      const sums = checks.getOrInsertComputed(check, open);
      sums.add(PLACES[verdict], 1);
      if (verdict !== "outage") sums.add(DURATIONS + bucketOf(durationMs * 1_000), 1);
    },
    read(): CheckCounts[] {
      const found: CheckCounts[] = [];
      for (const [check, sums] of [...checks].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const all = sums.read();
        const [allowed = 0, refused = 0, outages = 0] = all;
        const p50Us = quantileMs(all.subarray(DURATIONS), 0.5);
        if (allowed + refused + outages === 0) checks.delete(check);
        else
          found.push({
            check,
            allowed,
            refused,
            outages,
            p50Ms: p50Us === undefined ? undefined : p50Us / 1_000,
          });
      }
      return found;
    },
  };
}
