import type { LaneId } from "../../domain/ids.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";

/** A call that proves a key takes at most this long. */
const TEST_MS = 10_000;
const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;

/** Proves the keys of refused accounts again, by a call that makes nothing: after a minute, two, four and so on, and at each start. */
export interface Retests {
  /** Tests these at once. */
  start(lanes: readonly LaneId[]): void;
  /** The account's key was refused. */
  refused(lane: LaneId): void;
  stop(): void;
}

export function createRetests(deps: {
  readonly clock: Pick<Clock, "after">;
  readonly adapterOf: (lane: LaneId) => ProviderAdapter | undefined;
  readonly isRefused: (lane: LaneId) => boolean;
  readonly onProved: (lane: LaneId) => void;
}): Retests {
  const waiting = new Map<LaneId, () => void>();
  const stopping = new AbortController();

  function later(lane: LaneId, delayMs: number): void {
    if (stopping.signal.aborted || waiting.has(lane)) return;
    waiting.set(
      lane,
      deps.clock.after(delayMs, () => void test(lane, delayMs)),
    );
  }

  async function test(lane: LaneId, delayMs: number): Promise<void> {
    const adapter = deps.adapterOf(lane);
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TEST_MS)]);
    // Whatever goes wrong, the key counts as not proved.
    const tested = deps.isRefused(lane) ? await adapter?.test?.(signal).catch(() => undefined) : undefined;
    waiting.delete(lane);
    if (!deps.isRefused(lane)) return;
    if (tested?.kind === "ok") deps.onProved(lane);
    else if (adapter?.test !== undefined) later(lane, Math.min(LONGEST_MS, Math.max(FIRST_MS, delayMs * 2)));
  }

  return {
    start(lanes) {
      for (const lane of lanes) later(lane, 0);
    },
    refused: (lane) => later(lane, FIRST_MS),
    stop() {
      stopping.abort();
      for (const cancel of waiting.values()) cancel();
    },
  };
}
