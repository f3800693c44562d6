import type { Measurement, Unit } from "../run/report.ts";
import { type Interval, medianInterval } from "./interval.ts";

export type Side = "before" | "after";

/** One figure of one run. */
export interface Line {
  readonly name: string;
  readonly unit: Unit;
  readonly value: number;
  readonly renders?: string | undefined;
}

export type Verdict = "no difference" | "better" | "worse" | "too few pairs";

/** One figure of both builds, pair by pair. */
export interface Compared {
  readonly name: string;
  readonly unit: Unit;
  readonly renders?: string | undefined;
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Of the ratios after / before; undefined when too few pairs have one. */
  readonly ratio: Interval | undefined;
  readonly verdict: Verdict;
}

const IS_MORE_BETTER: Readonly<Record<Unit, boolean>> = {
  "req/s": true,
  "tasks/s": true,
  "MB/s": true,
  "%": false,
  ms: false,
  µs: false,
  MB: false,
  KB: false,
};

/**
 * Runs both sides `pairs` times in turn, before after, after before, …, so that what slows the machine down for a while, or more and
 * more, is as likely to fall on either.
 */
export async function runPairs(
  pairs: number,
  measure: (side: Side, pair: number) => Promise<readonly Measurement[]>,
): Promise<Compared[]> {
  const runs: Record<Side, (readonly Line[])[]> = { before: [], after: [] };
  for (let pair = 0; pair < pairs; pair++) {
    const order: readonly Side[] = pair % 2 === 0 ? ["before", "after"] : ["after", "before"];
    for (const side of order) runs[side].push(linesOf(await measure(side, pair)));
  }
  return compareRuns(runs.before, runs.after);
}

/** The figures of one run, each once: a median of its rounds, and the processor time behind a rate. */
export function linesOf(measurements: readonly Measurement[]): Line[] {
  const lines = measurements.flatMap(({ name, unit, figure, eachUs, renders }): Line[] => {
    const line = { name, unit, value: figure.median, renders };
    if (eachUs === undefined) return [line];
    const each = `  ${name.trim()}: processor time of each`;
    return [line, { name: each, unit: "µs", value: eachUs.figure.median, renders }];
  });
  // A figure that stands beside several baselines is reported with each of them.
  return [...new Map(lines.toReversed().map((line) => [line.name, line])).values()].reverse();
}

/** @param before runs, the n-th of which makes a pair with the n-th of `after` */
export function compareRuns(before: readonly (readonly Line[])[], after: typeof before): Compared[] {
  return (after[0] ?? []).flatMap(({ name, unit, renders }) => {
    const pairs = before.flatMap((run, i): [number, number][] => {
      const [was, is] = [figureOf(run, name), figureOf(after[i] ?? [], name)];
      return was === undefined || is === undefined ? [] : [[was, is]];
    });
    if (pairs.length === 0) return [];
    const ratio = medianInterval(pairs.map(([was, is]) => is / was).filter(Number.isFinite));
    const values = { before: pairs.map(([was]) => was), after: pairs.map(([, is]) => is) };
    return [{ name, unit, renders, ...values, ratio, verdict: judge(ratio, unit) }];
  });
}

function figureOf(run: readonly Line[], name: string): number | undefined {
  return run.find((line) => line.name === name)?.value;
}

/** An interval that holds 1 shows no difference. */
function judge(ratio: Interval | undefined, unit: Unit): Verdict {
  if (ratio === undefined) return "too few pairs";
  if (ratio.low <= 1 && ratio.high >= 1) return "no difference";
  return ratio.low > 1 === IS_MORE_BETTER[unit] ? "better" : "worse";
}
