/** Decisions that follow from a seed alone: the same seed gives the same run of decisions. */
export interface Dice {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number, both ends included. */
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** Dice of their own for each named stream of a seed, so that timing in one never changes decisions in another. */
export function createDice(seed: number, stream: string): Dice {
  let state = Bun.hash.xxHash32(stream, seed >>> 0);
  // mulberry32, public domain: small, fast, and good enough to decide what to break.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    // The index is within the tuple, which is never empty.
    pick: (choices) => choices[between(0, choices.length - 1)] as (typeof choices)[number],
  };
}
