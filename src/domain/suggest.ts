/** Longer names are not misspelt names of ours, and comparing them costs time. */
const LONGEST = 64;

/** Shorter prefixes do not show what was meant. */
const SHORTEST_BEGINNING = 3;

/**
 * The known name closest to the given one. It may differ in case, `_` and `-`, have few letters wrong, missing, doubled or
 * swapped, or be longer. Undefined when none is close.
 */
export function suggest(given: string, known: readonly string[]): string | undefined {
  if (given.length > LONGEST) return undefined;
  const plain = fold(given);
  const same = known.find((name) => fold(name) === plain);
  if (same !== undefined) return same;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const name of known) {
    const apart = distance(plain, fold(name));
    // Otherwise a name of one letter would be close to every short name without sharing a letter with it.
    if (apart < bestDistance && apart < fold(name).length) [best, bestDistance] = [name, apart];
  }
  return (
    best ??
    (plain.length < SHORTEST_BEGINNING ? undefined : known.find((name) => fold(name).startsWith(plain)))
  );
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

/** Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(at(row, j), at(beforeLast, j - 2) + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
