import type { Clock } from "../../domain/ports/runtime.ts";

/** Turns of the event loop for others after each passage. */
const TURNS_BETWEEN = 2;
/** After a passage that computed longer than this, others get this many times as long. */
const LONG_MS = 1;
const TIMES_LONGER = 2;

/** Lets one owner pass at a time. @returns a promise to await; undefined if nothing is in the way */
export type Lane = (owner: string) => Promise<void> | undefined;

export interface LaneDeps {
  readonly clock: Pick<Clock, "after">;
  /** How long this thread has computed. */
  readonly computedMs: () => number;
}

/**
 * Spreads the work on large bodies: one piece of one body is processed, then the event loop turns a few times for everything
 * else. Turns in which nothing waits take no time. Owners take turns, however many bodies each has.
 */
export function createLane({ clock, computedMs }: LaneDeps): Lane {
  /** In the order of their next passages. */
  const lines = new Map<string, (() => void)[]>();
  let isFree = true;

  function pass(): void {
    isFree = false;
    const sinceMs = computedMs();
    setImmediate(() => {
      const tookMs = computedMs() - sinceMs;
      if (tookMs > LONG_MS) clock.after(tookMs * TIMES_LONGER, letNext);
      else turnsLater(TURNS_BETWEEN, letNext);
    });
  }

  function letNext(): void {
    const next = lines.entries().next().value;
    if (next === undefined) {
      isFree = true;
      return;
    }
    const [owner, line] = next;
    lines.delete(owner);
    if (line.length > 1) lines.set(owner, line);
    line.shift()?.();
    pass();
  }

  return (owner) => {
    if (isFree) return void pass();
    return new Promise((resolve) => {
      const line = lines.get(owner);
      if (line === undefined) lines.set(owner, [resolve]);
      else line.push(resolve);
    });
  };
}

function turnsLater(count: number, then: () => void): void {
  if (count === 0) then();
  else setImmediate(() => turnsLater(count - 1, then));
}
