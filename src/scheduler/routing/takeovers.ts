import type { LaneId } from "../../domain/ids.ts";
import type { Clock } from "../../domain/ports/runtime.ts";

/** Keeps an account from repeatedly taking over tasks that should wait for another account of its provider. */
export interface Takeovers {
  /** Whether the account may take over tasks that wait for another one. */
  mayHelp(lane: LaneId): boolean;
  /** How long until every account may take over again; undefined if all may now. */
  waitMs(): number | undefined;
  /** A task that the account took over returns to the other one. */
  inVain(lane: LaneId): void;
}

/** For this long after a takeover in vain, an account takes nothing over. */
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
