import type { StorageError } from "../../domain/ports/task-store.ts";

/** Delays between tries: 1 ms, doubled up to this. */
const LONGEST_DELAY_MS = 250;
/** A longer outage is reported to operators, and new tasks are refused. */
const NOTICED_AFTER_MS = 1_000;

export type Outage = ReturnType<typeof createOutage>;

/** What keeps writes from being stored, and the timer that tries again. Measures time by its own delays. */
export function createOutage(deps: {
  readonly retry: () => void;
  readonly onNoticed?: ((reason: StorageError) => void) | undefined;
  readonly onEnded?: ((lastedMs: number) => void) | undefined;
}) {
  let reason: StorageError | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delayMs = 0;
  let waitedMs = 0;
  let beganAtMs = 0;
  let isNoticed = false;

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    stop,
    reason: () => reason,
    /** The reason, once the outage has lasted long enough to be told. */
    noticed: () => (isNoticed ? reason : undefined),
    /** Milliseconds waited in all outages so far. */
    waitedMs: () => waitedMs,
    /** Begins the outage or lets it go on, and tries again later. */
    goOn(error: StorageError): void {
      if (reason === undefined) {
        beganAtMs = waitedMs;
        delayMs = 0.5;
      }
      reason = error;
      if (!isNoticed && waitedMs - beganAtMs >= NOTICED_AFTER_MS) {
        isNoticed = true;
        deps.onNoticed?.(error);
      }
      delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
      stop();
      timer = setTimeout(() => {
        waitedMs += delayMs;
        deps.retry();
      }, delayMs);
    },
    end(): void {
      if (reason === undefined) return;
      stop();
      reason = undefined;
      if (isNoticed) deps.onEnded?.(waitedMs - beganAtMs);
      isNoticed = false;
    },
  };
}
