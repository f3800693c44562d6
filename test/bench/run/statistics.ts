/** The middle of several rounds, and how far they lie apart. */
export interface Summary {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
  /** One of each round, in their order. */
  readonly values: readonly number[];
}

export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
    rounds: sorted.length,
    values,
  };
}

/** @param sorted ascending */
export function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** The median of the ratios of rounds that ran one right after the other: what slows both down falls out. */
export function pairedRatio(values: readonly number[], baseline: readonly number[]): number {
  return summarize(values.map((value, i) => value / (baseline[i] ?? Number.NaN))).median;
}

/** Measures the subjects in turn, `rounds` times: A B A B … */
export async function interleave<Name extends string, T>(
  rounds: number,
  subjects: Readonly<Record<Name, () => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  // The keys of `subjects` are its names.
  const names = Object.keys(subjects) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results[name].push(await subjects[name]());
  }
  return results;
}
