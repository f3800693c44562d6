/** Runs something once after a delay; the returned function prevents it. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** Aborts its signal when time is up, or with the signal it was made from. */
export interface Deadline {
  readonly signal: AbortSignal;
  hasPassed(): boolean;
  /** Gives the time again, from now on. */
  restart(delayMs: number): void;
  /** Stops the watch until it is started again. */
  pause(): void;
  /** Ends the watch. The signal stays as it is. */
  clear(): void;
}

export function startDeadline(after: After, delayMs: number, parent: AbortSignal): Deadline {
  const controller = new AbortController();
  let isLate = false;
  let cancel = () => {};
  const abort = () => controller.abort(parent.reason);
  const restart = (ms: number) => {
    cancel();
    cancel = after(ms, () => {
      isLate = true;
      controller.abort(new DOMException("Time is up.", "TimeoutError"));
    });
  };
  parent.addEventListener("abort", abort, { once: true });
  if (parent.aborted) abort();
  else restart(delayMs);
  return {
    signal: controller.signal,
    hasPassed: () => isLate,
    restart,
    pause: () => cancel(),
    clear: () => {
      cancel();
      parent.removeEventListener("abort", abort);
    },
  };
}

/** The work's result, or a rejection as soon as the signal aborts: for work that cannot be aborted itself. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
