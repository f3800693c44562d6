import type { Clock } from "../../domain/ports/runtime.ts";

/** Why a request was given up: its phase took too long, named for a message. */
export class TooSlow extends Error {
  override readonly name = "TooSlow";
}

/** A signal that aborts with the caller's, or with `TooSlow` when the present phase of a request takes too long. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Gives the next phase its own time; `what` completes "… in time". */
  phase(delayMs: number, what: string): void;
  /** Stops the time until the next phase. */
  rest(): void;
  /** Ends the watch; the signal stays as it is. */
  end(): void;
}

export function startWatch(clock: Clock, caller: AbortSignal): Watch {
  const controller = new AbortController();
  let cancel = () => {};
  const abort = () => controller.abort(caller.reason);
  caller.addEventListener("abort", abort, { once: true });
  if (caller.aborted) abort();
  return {
    signal: controller.signal,
    phase(delayMs, what) {
      cancel();
      cancel = clock.after(delayMs, () => controller.abort(new TooSlow(`${what} in time`)));
    },
    rest: () => cancel(),
    end() {
      cancel();
      caller.removeEventListener("abort", abort);
    },
  };
}
