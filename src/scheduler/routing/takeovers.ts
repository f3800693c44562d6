import type { LaneId } from "../../domain/ids.ts";
import type { Clock } from "../../domain/ports/runtime.ts";

/** Keeps an account from taking over, again and again, what is better off waiting for another account of its provider. */
export interface Takeovers {
  /** Whether the account may take over what waits for another one. */
  mayHelp(lane: LaneId): boolean;
  /** How long until each account may that may not now; undefined where all may. */
  waitMs(): number | undefined;
  /** A task that the account took over goes back to the other one. */
  inVain(lane: LaneId): void;
}

/** An account that took a task over in vain takes none over for so long. */
const PAUSE_MS = 1_000;

export function createTakeovers({ clock }: { readonly clock: Pick<Clock, "elapsed"> }): Takeovers {
  const pausedUntil = new Map<LaneId, number>();
  const leftMs = (lane: LaneId) => (pausedUntil.get(lane) ?? 0) - clock.elapsed();
  return {
    mayHelp(lane) {
      if (leftMs(lane) > 0) return false;
      pausedUntil.delete(lane);
      return true;
    },
    waitMs() {
      const left = [...pausedUntil.keys()].map(leftMs).filter((ms) => ms > 0);
      return left.length === 0 ? undefined : Math.min(...left);
    },
    inVain: (lane) => void pausedUntil.set(lane, clock.elapsed() + PAUSE_MS),
  };
}
