/** Limits how many requests are sent to another program at once, and how many wait. Owners of requests take turns. */
export interface Gate {
  /**
   * Waits for a place. The signal ends the wait.
   * @returns what gives the place back; undefined where too many wait already, or too many of this owner
   * @throws the signal's reason
   */
  enter(owner: string, signal: AbortSignal): Promise<(() => void) | undefined>;
}

/**
 * How many requests may wait for each one that is sent. Their texts stay in memory meanwhile. An owner's share of them has room for all tasks
 * of a group, also where one is sent at a time.
 */
const WAITING_FOR_EACH = 24;
/** An owner's requests may be this many times what others leave free: three quarters of all when it is alone. */
const TIMES_FREE = 3;

export function createGate(places: number): Gate {
  const most = places * WAITING_FOR_EACH;
  /** In the order of their next places. */
  const lines = new Map<string, Set<() => void>>();
  let waiting = 0;
  let free = places;

  function leave(): void {
    const [next] = lines;
    // The place goes straight to the next in line, so that no later request can take it in between.
    if (next === undefined) {
      free += 1;
      return;
    }
    const [owner, line] = next;
    lines.delete(owner);
    if (line.size > 1) lines.set(owner, line);
    const [enter] = line;
    enter?.();
  }

  function waitAs(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = lines.get(owner) ?? new Set();
    lines.set(owner, line);
    const goneFrom = (then: () => void) => () => {
      signal.removeEventListener("abort", give);
      line.delete(enter);
      waiting -= 1;
      if (line.size === 0) lines.delete(owner);
      then();
    };
    const enter = goneFrom(resolve);
    const give = goneFrom(() => reject(signal.reason));
    line.add(enter);
    waiting += 1;
    signal.addEventListener("abort", give, { once: true });
    return promise;
  }

  return {
    async enter(owner, signal) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else if ((lines.get(owner)?.size ?? 0) >= TIMES_FREE * (most - waiting)) return undefined;
      else await waitAs(owner, signal);
      let isInside = true;
      return () => {
        if (isInside) leave();
        isInside = false;
      };
    },
  };
}
