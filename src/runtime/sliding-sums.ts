export interface SlidingSumsOptions {
  /** How many times `slotMs` are summed up, the one under way included. */
  readonly slots: number;
  readonly slotMs: number;
  /** How many sums there are. */
  readonly width: number;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
}

export type SlidingSums = ReturnType<typeof createSlidingSums>;

/** Sums over the latest time, in memory of a fixed size. With each new slot the oldest one falls out. */
export function createSlidingSums({ slots, slotMs, width, elapsed }: SlidingSumsOptions) {
  const ring = new Float64Array(slots * width);
  const sums = new Float64Array(width);
  const startOf = (slot: number) => (((slot % slots) + slots) % slots) * width;
  let current = Math.floor(elapsed() / slotMs);

  function roll(elapsedMs = elapsed()): void {
    const now = Math.floor(elapsedMs / slotMs);
    if (now === current) return;
    for (let slot = Math.max(current, now - slots) + 1; slot <= now; slot++) empty(startOf(slot));
    current = now;
  }

  function empty(start: number): void {
    for (let i = 0; i < width; i++) {
      sums[i] = (sums[i] ?? 0) - (ring[start + i] ?? 0);
      ring[start + i] = 0;
    }
  }

  return {
    /** Adds to one sum. @param at when it happened, on the same clock; what is too old is left out */
    add(index: number, amount: number, at?: number): void {
      const now = elapsed();
      roll(now);
      const slot = Math.floor((at ?? now) / slotMs);
      if (slot > current || slot <= current - slots) return;
      const place = startOf(slot) + index;
      ring[place] = (ring[place] ?? 0) + amount;
      sums[index] = (sums[index] ?? 0) + amount;
    },
    /** The sums now. Valid until the next call. */
    read(): Readonly<Float64Array> {
      roll();
      return sums;
    },
    /** The parts of some sums by slot, oldest first, without the slot under way. @param count at most `slots - 1` */
    history(indexes: readonly number[], count: number): number[] {
      roll();
      return Array.from({ length: count }, (_, i) => {
        const start = startOf(current - count + i);
        return indexes.reduce((sum, index) => sum + (ring[start + index] ?? 0), 0);
      });
    },
    /** When the oldest slot began. */
    startsAt(): number {
      roll();
      return (current - slots + 1) * slotMs;
    },
  };
}
