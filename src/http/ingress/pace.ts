import type { Clock } from "../../domain/ports/runtime.ts";

/** How long a sender may be slower than the least pace. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_MS = 16;
const SWEEP_MS = 1_000;

/** Somebody whose body is awaited. */
export interface Sender {
  sentBytes: number;
  /** How long it was waited for, up to the last piece. What is done with the pieces does not count. */
  waitedMs: number;
  /** Called once when it is too slow. */
  readonly cut: () => void;
}

/**
 * Holds all senders to one pace, because they hold memory and a place that others wait for. They share a timer, which runs only
 * while some are awaited.
 */
export function createPace({ clock }: { readonly clock: Pick<Clock, "after" | "elapsed"> }) {
  /** With the time since when each is waited for. */
  const awaited = new Map<Sender, number>();
  let isWatching = false;

  function watch(): void {
    isWatching = awaited.size > 0;
    if (isWatching) clock.after(SWEEP_MS, sweep);
  }

  function sweep(): void {
    const now = clock.elapsed();
    for (const [sender, since] of awaited) {
      if (sender.waitedMs + now - since <= GRACE_MS + sender.sentBytes / LEAST_BYTES_PER_MS) continue;
      awaited.delete(sender);
      sender.cut();
    }
    watch();
  }

  return {
    await(sender: Sender): void {
      awaited.set(sender, clock.elapsed());
      if (!isWatching) watch();
    },
    /** Something came, or nothing will. */
    heard(sender: Sender, bytes: number): void {
      const since = awaited.get(sender);
      if (since === undefined) return;
      awaited.delete(sender);
      sender.waitedMs += clock.elapsed() - since;
      sender.sentBytes += bytes;
    },
  };
}

export type Pace = ReturnType<typeof createPace>;
