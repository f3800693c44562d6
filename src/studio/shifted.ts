/** How the samples of a plane's rows are covered, in runs of alike ones. Lies between each row and the next: four samples make one drawn. */
export interface Runs {
  /** By row: its first run. The next row's first is just after its last. */
  readonly firstOf: Int32Array;
  /** By run: the column just after it. */
  readonly ends: Int32Array;
  readonly kinds: Uint8Array;
}

const EMPTY = 0;
const SOLID = 1;
const MIXED = 2;

/** Fewer alike samples count as mixed, because a run takes time of its own. */
const SHORTEST = 8;

// biome-ignore-start lint/style/noNonNullAssertion: every index is inside its plane, which the callers see to; a default for each would double the time.

/** Finds the runs of an alpha plane. */
export function runsOf(alpha: Uint8Array, width: number, height: number): Runs {
  const firstOf = new Int32Array(height);
  const ends: number[] = [];
  const kinds: number[] = [];
  for (let row = 0; row + 1 < height; row++) {
    const first = ends.length;
    firstOf[row] = first;
    let begun = 0;
    let kind = -1;
    let p = row * width;
    let some = alpha[p]! | alpha[p + width]!;
    let every = alpha[p]! & alpha[p + width]!;
    for (let x = 0; x < width; x++, p++) {
      let here = -1;
      if (x + 1 < width) {
        const nextSome = alpha[p + 1]! | alpha[p + width + 1]!;
        const nextEvery = alpha[p + 1]! & alpha[p + width + 1]!;
        here = (some | nextSome) === 0 ? EMPTY : (every & nextEvery) === 255 ? SOLID : MIXED;
        some = nextSome;
        every = nextEvery;
      }
      if (here === kind) continue;
      if (x > begun) {
        const as = x - begun < SHORTEST ? MIXED : kind;
        if (ends.length === first || kinds[kinds.length - 1] !== as) kinds.push(as);
        else ends.pop();
        ends.push(x);
      }
      begun = x;
      kind = here;
    }
  }
  firstOf[height - 1] = ends.length;
  return { firstOf, ends: Int32Array.from(ends), kinds: Uint8Array.from(kinds) };
}

/*
 * What follows draws rows of planes that are shifted, but neither turned nor scaled. The weights of the samples then stay the same along
 * a row, and each sum of two samples is used twice. `p` is the sample of the source that the first one drawn begins in; it lies `right`
 * and `down` of it, 0 … 255. The results are those of the general way in plane.ts, to the bit.
 */

/** Draws opaque samples at full strength. */
export function copyShifted(
  target: Uint8Array,
  start: number,
  count: number,
  pixels: Uint8Array,
  width: number,
  p: number,
  right: number,
  down: number,
): void {
  if (right === 0 && down === 0) {
    target.set(pixels.subarray(p, p + count), start);
    return;
  }
  const left = 256 - right;
  const up = 256 - down;
  let before = pixels[p]! * up + pixels[p + width]! * down;
  for (let at = start, next = p + 1, end = start + count; at < end; at++, next++) {
    const here = pixels[next]! * up + pixels[next + width]! * down;
    target[at] = (before * left + here * right + 32768) >> 16;
    before = here;
  }
}

/** Draws samples over what is there. @param strength opacity, 0 … 256 */
function blendShifted(
  target: Uint8Array,
  start: number,
  count: number,
  pixels: Uint8Array,
  alpha: Uint8Array,
  width: number,
  p: number,
  right: number,
  down: number,
  strength: number,
): void {
  const left = 256 - right;
  const up = 256 - down;
  let before = pixels[p]! * up + pixels[p + width]! * down;
  let coverBefore = alpha[p]! * up + alpha[p + width]! * down;
  for (let at = start, next = p + 1, end = start + count; at < end; at++, next++) {
    const here = pixels[next]! * up + pixels[next + width]! * down;
    const coverHere = alpha[next]! * up + alpha[next + width]! * down;
    if ((coverBefore | coverHere) !== 0) {
      const value = (before * left + here * right + 32768) >> 16;
      const cover = (coverBefore * left + coverHere * right + 32768) >> 16;
      const kept = 255 - ((cover * strength + 128) >> 8);
      const rest = target[at]! * kept + 128;
      target[at] = ((value * strength + 128) >> 8) + ((rest + (rest >> 8)) >> 8);
    }
    before = here;
    coverBefore = coverHere;
  }
}

/** Draws a row of a sprite with transparency: what is empty is passed over, and what is opaque copied. */
export function drawShifted(
  target: Uint8Array,
  start: number,
  count: number,
  pixels: Uint8Array,
  alpha: Uint8Array,
  { firstOf, ends, kinds }: Runs,
  width: number,
  fx: number,
  fy: number,
  strength: number,
): void {
  const x = fx >> 16;
  const row = fy >> 16;
  const right = (fx >> 8) & 255;
  const down = (fy >> 8) & 255;
  const p = row * width + x;
  let done = 0;
  for (let run = firstOf[row]!; done < count; run++) {
    const end = Math.min(count, ends[run]! - x);
    if (end <= done) continue;
    const kind = kinds[run]!;
    if (kind === SOLID && strength === 256) {
      copyShifted(target, start + done, end - done, pixels, width, p + done, right, down);
    } else if (kind !== EMPTY) {
      blendShifted(target, start + done, end - done, pixels, alpha, width, p + done, right, down, strength);
    }
    done = end;
  }
}

// biome-ignore-end lint/style/noNonNullAssertion: see above
