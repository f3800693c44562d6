import type { Clock } from "../../domain/ports/runtime.ts";

/** How long a sender may be slower than the minimum pace. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_MS = 16;
const SWEEP_MS = 1_000;

/** A sender whose body is awaited. */
export interface Sender {
  sentBytes: number;
  /** How long the service waited for it, up to the last piece. Time spent on the pieces does not count. */
  waitedMs: number;
  /** Called once if the sender is too slow. */
  readonly cut: () => void;
}

/**
 * Holds all senders to one minimum pace, because they use memory and a place that others wait for. They share a timer, which
 * runs only while any is awaited.
 */
export function createPace({ clock }: { readonly clock: Pick<Clock, "after" | "elapsed"> }) {
  /** Senders, each with the time since when it is awaited. */
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
    /** A piece arrived, or none will. */
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
