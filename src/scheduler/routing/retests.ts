import type { LaneId } from "../../domain/ids.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";

/** A call that proves a key takes at most this long. */
const TEST_MS = 10_000;
const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;

/**
 * Proves the keys of refused accounts again, by a call that makes nothing: at once, unless it was proved a moment ago, after a minute,
 * two, four and so on, and at each start.
 */
export interface Retests {
  /** Tests these at once. */
  start(lanes: readonly LaneId[]): void;
  /** The account's key was refused. */
  refused(lane: LaneId): void;
  stop(): void;
}

export function createRetests(deps: {
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly adapterOf: (lane: LaneId) => ProviderAdapter | undefined;
  readonly isRefused: (lane: LaneId) => boolean;
  readonly onProved: (lane: LaneId) => void;
  /** The upstream refuses the key whatever it is asked for. */
  readonly onRefused: (lane: LaneId, detail: string) => void;
}): Retests {
  const { clock } = deps;
  const waiting = new Map<LaneId, () => void>();
  const provedAt = new Map<LaneId, number>();
  const stopping = new AbortController();

  function later(lane: LaneId, delayMs: number): void {
    if (stopping.signal.aborted || waiting.has(lane)) return;
    waiting.set(
      lane,
      clock.after(delayMs, () => void test(lane, delayMs)),
    );
  }

  async function test(lane: LaneId, delayMs: number): Promise<void> {
    const adapter = deps.adapterOf(lane);
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TEST_MS)]);
    // Whatever goes wrong, the key counts as not proved.
    const tested = deps.isRefused(lane) ? await adapter?.test?.(signal).catch(() => undefined) : undefined;
    waiting.delete(lane);
    if (!deps.isRefused(lane)) return;
    if (tested?.kind === "refused") deps.onRefused(lane, tested.detail);
    if (tested?.kind === "ok") {
      provedAt.set(lane, clock.elapsed());
      deps.onProved(lane);
    } else if (adapter?.test !== undefined)
      later(lane, Math.min(LONGEST_MS, Math.max(FIRST_MS, delayMs * 2)));
  }

  return {
    start(lanes) {
      for (const lane of lanes) later(lane, 0);
    },
    refused(lane) {
      const isProved = clock.elapsed() - (provedAt.get(lane) ?? Number.NEGATIVE_INFINITY) < FIRST_MS;
      later(lane, isProved ? FIRST_MS : 0);
    },
    stop() {
      stopping.abort();
      for (const cancel of waiting.values()) cancel();
    },
  };
}
