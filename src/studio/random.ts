/** A seeded random source: the same parts always give the same sequence. */
export interface Random {
  /** @returns a number in [0, 1) */
  next(): number;
  /** @returns a number in [low, high) */
  range(low: number, high: number): number;
  /** @returns a whole number in [low, high] */
  int(low: number, high: number): number;
  /** @returns true with the given probability in [0, 1] */
  chance(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** A 32-bit hash of any text (FNV-1a over UTF-16 units, then mixed). Pure. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** Starts a sequence from any number of parts; their order matters. */
export function createRandom(...parts: readonly (string | number)[]): Random {
  // sfc32: four words of state, long period, no visible pattern in art.
  let a = hashText(`a:${parts.join("\u0000")}`);
  let b = hashText(`b:${parts.join("\u0000")}`);
  let c = hashText(`c:${parts.join("\u0000")}`);
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 0x100000000;
  };
  for (let i = 0; i < 12; i++) next();
  return {
    next,
    range: (low, high) => low + next() * (high - low),
    int: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick: <T>(choices: readonly [T, ...T[]]): T => choices[Math.floor(next() * choices.length)] ?? choices[0],
  };
}

/** Smooth value noise in two dimensions, in [-1, 1], with features about one unit wide. */
export type Noise = (x: number, y: number) => number;

/** @param octaves how many layers of ever finer detail are summed, ≥ 1 */
export function createNoise(random: Random, octaves: number): Noise {
  const salt = Math.floor(random.next() * 0x7fffffff);
  return (x, y) => {
    let sum = 0;
    let weight = 1;
    let total = 0;
    for (let octave = 0; octave < octaves; octave++) {
      const scale = 2 ** octave;
      sum += weight * latticeNoise(x * scale + octave * 17.3, y * scale - octave * 9.1, salt);
      total += weight;
      weight *= 0.5;
    }
    return sum / total;
  };
}

function latticeNoise(x: number, y: number, salt: number): number {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const tx = ease(x - left);
  const ty = ease(y - top);
  const upper = lerp(latticeValue(left, top, salt), latticeValue(left + 1, top, salt), tx);
  const lower = lerp(latticeValue(left, top + 1, salt), latticeValue(left + 1, top + 1, salt), tx);
  return lerp(upper, lower, ty);
}

function latticeValue(x: number, y: number, salt: number): number {
  return (mix(Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1) ^ salt) / 0x100000000) * 2 - 1;
}

function mix(word: number): number {
  let value = word | 0;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** Smooth step from 0 to 1 with flat ends; `t` is clamped to [0, 1]. */
export function ease(t: number): number {
  const clamped = Math.min(1, Math.max(0, t));
  return clamped * clamped * (3 - 2 * clamped);
}

function lerp(from: number, to: number, t: number): number {
  return from + (to - from) * t;
}
