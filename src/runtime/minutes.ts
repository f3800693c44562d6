import { MINUTE_FIGURES, type MinuteFigure, type MinuteReading } from "../domain/history.ts";
import { STATUS_CLASSES, type StatusClass } from "../domain/overview.ts";
import { bucketOf, DURATION_BUCKETS, quantileMs } from "./duration-buckets.ts";

/** A day of minutes, each with so many numbers of eight bytes: about 200 KB, from the start on. */
const MOST_MINUTES = 24 * 60;
const WIDTH = MINUTE_FIGURES.length;
/** Buckets of durations begin at one unit: lateness is counted in microseconds. */
const US = 1_000;

/** What is counted during a minute. */
type Counted = Extract<MinuteFigure, `answered_${StatusClass}` | "created" | "completed" | "failed">;

/** Figures of the latest minutes, in memory of a fixed size. With each new minute the oldest one falls out. */
export class Minutes {
  readonly #ring = new Float64Array(MOST_MINUTES * WIDTH);
  readonly #at = new Float64Array(MOST_MINUTES);
  /** Minutes that ended since the start. */
  #count = 0;
  #counted = new Map<Counted, number>();
  readonly #lags = new Uint32Array(DURATION_BUCKETS);
  #lagMaxMs = 0;

  add(figure: Counted): void {
    this.#counted.set(figure, (this.#counted.get(figure) ?? 0) + 1);
  }

  /** An answer of this status counts in its class; one without an answer of its own as an error of the server. */
  answered(status: number): void {
    const place = Math.min(STATUS_CLASSES.length - 1, Math.max(0, Math.floor(status / 100) - 2));
    this.add(`answered_${STATUS_CLASSES[place] ?? "5xx"}`);
  }

  lagged(durationMs: number): void {
    const bucket = bucketOf(durationMs * US);
    this.#lags[bucket] = (this.#lags[bucket] ?? 0) + 1;
    this.#lagMaxMs = Math.max(this.#lagMaxMs, durationMs);
  }

  /** Ends the minute with the measurements of the service. @param at epoch milliseconds */
  end(at: number, reading: MinuteReading): void {
    const read: Readonly<Record<Exclude<MinuteFigure, Counted>, number>> = {
      queued: reading.queued,
      under_way: reading.underWay,
      callbacks_owed: reading.callbacksOwed,
      lag_p95_ms: (quantileMs(this.#lags, 0.95) ?? 0) / US,
      lag_max_ms: this.#lagMaxMs,
      rss_bytes: reading.rssBytes,
      disk_free_bytes: reading.freeBytes,
      data_bytes: reading.databaseBytes,
      wal_bytes: reading.walBytes,
    };
    const slot = this.#count % MOST_MINUTES;
    const known = { ...Object.fromEntries(this.#counted), ...read } as Partial<Record<MinuteFigure, number>>;
    for (const [i, figure] of MINUTE_FIGURES.entries()) this.#ring[slot * WIDTH + i] = known[figure] ?? 0;
    this.#at[slot] = at;
    this.#count += 1;
    this.#counted = new Map();
    this.#lags.fill(0);
    this.#lagMaxMs = 0;
  }

  /** The latest minutes, oldest first. @param most ≥ 1 */
  read(most: number): { at: number[]; minutes: Record<MinuteFigure, number[]> } {
    const count = Math.min(this.#count, most, MOST_MINUTES);
    const slots = Array.from({ length: count }, (_, i) => (this.#count - count + i) % MOST_MINUTES);
    const minutes = MINUTE_FIGURES.map((figure, i) => [
      figure,
      slots.map((slot) => this.#ring[slot * WIDTH + i] ?? 0),
    ]);
    return {
      at: slots.map((slot) => this.#at[slot] ?? 0),
      // Safe: made of the list of all figures.
      minutes: Object.fromEntries(minutes) as Record<MinuteFigure, number[]>,
    };
  }
}
