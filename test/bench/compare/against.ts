import type { Bench } from "../benches/bench.ts";
import type { Measurement } from "../run/report.ts";
import { runPairs, type Side } from "./compare.ts";
import type { BenchComparison } from "./render.ts";

/**
 * Compares the benches one after the other. One that fails does not end the others: an older commit may lack what it asks for.
 *
 * @param watch begins to watch what others use, and returns a function that tells it
 */
export async function compareBenches(
  benches: readonly (readonly [name: string, bench: Bench])[],
  options: {
    readonly pairs: number;
    readonly canCompare: (name: string) => boolean;
    readonly measure: (bench: Bench, side: Side) => Promise<readonly Measurement[]>;
    readonly watch: () => () => number | undefined;
    readonly say: (text: string) => void;
  },
): Promise<BenchComparison[]> {
  const { pairs, canCompare, measure, watch, say } = options;
  const found: BenchComparison[] = [];
  for (const [bench, run] of benches) {
    if (!canCompare(bench)) {
      const notCompared = "it imports what it measures, which is always of this tree.";
      found.push({ bench, notCompared, hasFailed: false });
      continue;
    }
    const contention = watch();
    let now: Side = "before";
    try {
      const lines = await runPairs(pairs, (side, pair) => {
        now = side;
        say(`${bench}: pair ${pair + 1} of ${pairs}, ${side}\n`);
        return measure(run, side);
      });
      if (lines.length > 0) found.push({ bench, lines, contention: contention() });
      else found.push({ bench, notCompared: "it measures nothing on this machine.", hasFailed: false });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const notCompared = `it failed with the build ${now}: ${message.trim()}`;
      found.push({ bench, notCompared, hasFailed: true });
    }
  }
  return found;
}
