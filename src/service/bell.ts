import type { Clock } from "../domain/ports/runtime.ts";

/** Wakes one waiting reader, and remembers a ring that came while nobody waited. Several count as one. */
export function openBell({ clock }: { readonly clock: Clock }, signal: AbortSignal) {
  let hasRung = false;
  let wake = () => {};
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  return {
    ring() {
      hasRung = true;
      wake();
    },
    /** Resolves when it has rung since the last call, after `ms`, or when the signal aborts. */
    async rung(ms: number): Promise<void> {
      if (!hasRung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const cancelTimer = clock.after(ms, resolve);
        await promise;
        cancelTimer();
      }
      hasRung = false;
    },
    /** Removes the listener from the signal; must be called. */
    stop: () => signal.removeEventListener("abort", onAbort),
  };
}
