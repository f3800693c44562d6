import { isContended } from "../run/contention.ts";
import type { Pieces } from "./pieces.ts";
import type { BenchRun } from "./record.ts";

/** How often a bench is measured that others disturb. */
const TIMES = 3;

/**
 * Measures the benches that have no piece yet and keeps what was found. Those that others disturbed come again when all have had
 * their turn.
 *
 * @param isUnchanged whether the sources are still those that the pieces are of
 * @returns why benches are still missing, a line each
 */
export async function collectPieces(
  benches: readonly string[],
  options: {
    readonly pieces: Pieces;
    readonly measure: (bench: string) => Promise<BenchRun>;
    readonly isUnchanged: () => Promise<boolean>;
    readonly say: (text: string) => void;
  },
): Promise<string[]> {
  const { pieces, measure, isUnchanged, say } = options;
  const failures: string[] = [];
  let missing: string[] = [];
  for (const bench of benches) {
    const kept = pieces.read(bench);
    if (kept === undefined) missing.push(bench);
    else say(`${bench}: measured ${kept.takenAt}\n`);
  }
  for (let time = 0; time < TIMES; time++) {
    const disturbed: string[] = [];
    for (const bench of missing) {
      const run = await measure(bench);
      if (!(await isUnchanged()))
        return [
          ...failures,
          `${bench} was not kept, for the sources changed meanwhile; nothing more was measured.`,
        ];
      const hindrance = hindranceOf(run);
      if (hindrance !== undefined) failures.push(hindrance);
      else if (isContended(run.contention)) disturbed.push(bench);
      else pieces.keep(run);
    }
    missing = disturbed;
  }
  return [
    ...failures,
    ...missing.map((bench) => `${bench} was disturbed ${TIMES} times by others on the machine.`),
  ];
}

/** Why measuring it again would not help. */
function hindranceOf({ bench, failure, lines, contention }: BenchRun): string | undefined {
  if (failure !== undefined) return `${bench} failed: ${failure}`;
  if (lines.length === 0) return `${bench} could not be measured here.`;
  return contention === undefined
    ? `${bench} was not kept, for this system does not tell what others use.`
    : undefined;
}
