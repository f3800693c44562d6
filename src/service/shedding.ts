import { AppError } from "../domain/errors.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import {
  nextPressure,
  pressedRetrySec,
  refusedShare,
  SHED_CLASSES,
  type ShedClass,
} from "../domain/shedding.ts";

export interface SheddingDeps {
  readonly clock: Pick<Clock, "elapsed">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly tally: Pick<Tally, "shed">;
  /** The memory of the process that the system cannot take back. */
  readonly heldBytes: () => number;
  readonly most: { readonly lagMs: number; readonly heldBytes: number };
}

/** Requests are refused only after the lag was too long for this time, because a short burst is no overload. */
const STANDING_MS = 1_000;
/** The weight of each new measurement in the smoothed lag. */
const FRESH = 0.3;
const MEMORY_EVERY_MS = 1_000;
const MIB = 1024 * 1024;

/** Refuses part of the requests while the process is overloaded. */
export type Shedding = ReturnType<typeof createShedding>;

export function createShedding({ clock, log, tally, heldBytes, most }: SheddingDeps) {
  const credit: Record<ShedClass, number> = { creates: 0, lists: 0, reads: 0 };
  let pressure = 0;
  let lagMs = 0;
  let held = 0;
  let readMemoryAt = Number.NEGATIVE_INFINITY;
  /** When the lag was last acceptable. */
  let goodAt = clock.elapsed();
  let pressedSince = 0;
  let told = 0;
  let refused = 0;

  /** The classes of which some requests are refused. */
  const active = () => SHED_CLASSES.filter((each) => refusedShare(pressure, each) > 0);

  function tell(now: number): void {
    const count = active().length;
    if (count === told) return;
    const fields = { shedding: active(), lag_ms: Math.round(lagMs), memory_mb: Math.round(held / MIB) };
    if (count === 0) log.info({ ms: Math.round(now - pressedSince), refused }, "no longer overloaded");
    else if (count > told) log.warn(fields, "overloaded: some requests are refused");
    else log.info(fields, "less overloaded");
    told = count;
  }

  return {
    active,
    /** Takes a measurement: how late the event loop ran a timer. Call it about ten times a second. */
    observe(lateMs: number): void {
      const now = clock.elapsed();
      lagMs += (lateMs - lagMs) * FRESH;
      if (lateMs <= most.lagMs) goodAt = now;
      if (now - readMemoryAt >= MEMORY_EVERY_MS) {
        readMemoryAt = now;
        held = heldBytes();
      }
      const isStanding = pressure > 0 || now - goodAt >= STANDING_MS;
      const before = pressure;
      const load = { mostLagMs: most.lagMs, heldBytes: held, mostHeldBytes: most.heldBytes };
      pressure = nextPressure(pressure, { ...load, lagMs: isStanding ? lagMs : 0 });
      if (before === 0 && pressure > 0) {
        pressedSince = now;
        refused = 0;
      }
      tell(now);
    },
    /** Why a request of a class is refused; undefined if it may continue. Costs nothing while nothing is refused. */
    refusal(shed: ShedClass): AppError | undefined {
      if (pressure === 0) return undefined;
      credit[shed] += refusedShare(pressure, shed);
      if (credit[shed] < 1) return undefined;
      credit[shed] -= 1;
      refused += 1;
      tally.shed(shed);
      const retryAfterSec = pressedRetrySec(clock.elapsed() - pressedSince);
      const details = { retryAfterSec, shouldRetry: true };
      return new AppError("service_unavailable", { kind: "overloaded", retryAfterSec }, details);
    },
  };
}
