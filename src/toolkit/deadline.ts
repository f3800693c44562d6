/** Runs a callback once after a delay; the returned function prevents it. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** Why a signal aborted: a phase took too long. The message names the phase. */
export class DeadlineExceeded extends Error {
  override readonly name = "DeadlineExceeded";
}

/** A span of time, and what its end means: completes "… in time". */
export interface TimeLimit {
  readonly delayMs: number;
  readonly what: string;
}

/** Limits the time of work that has phases. */
export interface Deadline {
  /** Aborts with `DeadlineExceeded` when time is up, or with the reason of the parent signal. */
  readonly signal: AbortSignal;
  hasPassed(): boolean;
  /** Starts the next phase, which replaces the one before. */
  phase(delayMs: number, what: string): void;
  /** Ends the phase; none runs until the next one starts. */
  pause(): void;
  /** Ends the deadline. The signal stays as it is. */
  end(): void;
}

/** @param total limits all phases together, pauses included */
export function startDeadline(
  clock: { readonly after: After },
  parent: AbortSignal,
  total?: TimeLimit,
): Deadline {
  const controller = new AbortController();
  const start = ({ delayMs, what }: TimeLimit) =>
    clock.after(delayMs, () => controller.abort(new DeadlineExceeded(`${what} in time`)));
  const abort = () => controller.abort(parent.reason);
  parent.addEventListener("abort", abort, { once: true });
  if (parent.aborted) abort();
  const cancelTotal = total === undefined ? () => {} : start(total);
  let cancelPhase = () => {};
  return {
    signal: controller.signal,
    hasPassed: () => controller.signal.reason instanceof DeadlineExceeded,
    phase(delayMs, what) {
      cancelPhase();
      cancelPhase = start({ delayMs, what });
    },
    pause: () => cancelPhase(),
    end() {
      cancelPhase();
      cancelTotal();
      parent.removeEventListener("abort", abort);
    },
  };
}

/** The result of work that cannot be aborted itself, or a rejection as soon as the signal aborts. */
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
