import type { Clock } from "../domain/ports/runtime.ts";

/** Wakes one waiting reader, and remembers a ring that came while nobody waited. */
export interface Bell {
  ring(): void;
  /** Resolves when it has rung since this was last called, after `ms`, or when the signal aborts. */
  rung(ms: number): Promise<void>;
  /** Removes the listener from the signal; must be called. */
  stop(): void;
}

/** A bell for one reader. Several rings before the next wait count as one. */
export function openBell({ clock }: { readonly clock: Clock }, signal: AbortSignal): Bell {
  let hasRung = false;
  let wake = () => {};
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  return {
    ring() {
      hasRung = true;
      wake();
    },
    async rung(ms) {
      if (!hasRung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const cancelTimer = clock.after(ms, resolve);
        await promise;
        cancelTimer();
      }
      hasRung = false;
    },
    stop: () => signal.removeEventListener("abort", onAbort),
  };
}
