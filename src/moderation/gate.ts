/** Limits how many requests are sent to another program at once, and how many wait. */
export interface Gate {
  /**
   * Waits for a place. The signal ends the wait.
   * @returns what gives the place back; undefined where too many wait already
   * @throws the signal's reason
   */
  enter(signal: AbortSignal): Promise<(() => void) | undefined>;
}

/** How many requests may wait for each one that is sent. Their texts stay in memory meanwhile. */
const WAITING_FOR_EACH = 16;

export function createGate(places: number): Gate {
  const waiting = new Set<() => void>();
  let free = places;

  function leave(): void {
    const [next] = waiting;
    // The place goes straight to the next in line, so that no later request can take it in between.
    if (next === undefined) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  }

  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else if (waiting.size >= places * WAITING_FOR_EACH) return undefined;
      else await waitIn(waiting, signal);
      let isInside = true;
      return () => {
        if (isInside) leave();
        isInside = false;
      };
    },
  };
}

function waitIn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const enter = () => {
    signal.removeEventListener("abort", give);
    resolve();
  };
  const give = () => {
    waiting.delete(enter);
    reject(signal.reason);
  };
  waiting.add(enter);
  signal.addEventListener("abort", give, { once: true });
  return promise;
}
