import Table from "cli-table3";
import { isContended } from "../run/contention.ts";
import { format } from "../run/report.ts";
import { summarize } from "../run/statistics.ts";
import type { Compared } from "./compare.ts";

/** What came of one bench. */
export type BenchComparison =
  | {
      readonly bench: string;
      readonly lines: readonly Compared[];
      /** Share of the processors that others used meanwhile, as far as it is known. */
      readonly contention: number | undefined;
    }
  | {
      readonly bench: string;
      /** Why not. */
      readonly notCompared: string;
      /** Whether it should have been. */
      readonly hasFailed: boolean;
    };

export function renderComparison(benches: readonly BenchComparison[]): string {
  const table = new Table({
    head: ["", "before", "after", "ratio", "interval", "", "others"],
    colAligns: ["left", "right", "right", "right", "right", "left", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const each of benches) {
    if ("notCompared" in each) continue;
    for (const line of each.lines) table.push(rowOf(line, each.contention));
  }
  const missing = benches.flatMap((each) =>
    "notCompared" in each ? [`${each.bench}: not compared; ${each.notCompared}`] : [],
  );
  return [...(table.length === 0 ? [] : [table.toString(), ...explain(benches)]), ...missing].join("\n");
}

function rowOf({ name, unit, before, after, ratio, verdict }: Compared, contention: number | undefined) {
  return [
    name,
    `${format(summarize(before).median)} ${unit}`,
    `${format(summarize(after).median)} ${unit}`,
    ratio === undefined ? "" : ratio.median.toFixed(3),
    ratio === undefined ? "" : `${ratio.low.toFixed(3)}–${ratio.high.toFixed(3)}`,
    verdict,
    contention === undefined ? "" : `${Math.round(contention * 100)} %`,
  ];
}

function explain(benches: readonly BenchComparison[]): string[] {
  const compared = benches.flatMap((each) => ("notCompared" in each ? [] : each.lines));
  const confidences = compared.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio.confidence]));
  const percent = (Math.min(...confidences) * 100).toFixed(1);
  const byChance = confidences.reduce((sum, each) => sum + 1 - each, 0);
  const isNoisy = benches.some((each) => "contention" in each && isContended(each.contention));
  return [
    "ratio: the median of after / before in each pair. interval: where the true one lies.",
    ...(confidences.length === 0
      ? []
      : [
          `An interval misses the true ratio in ${(100 - Number(percent)).toFixed(1)} % of cases: of ${confidences.length} lines that ` +
            `are the same, about ${byChance.toFixed(1)} say otherwise.`,
        ]),
    ...(isNoisy
      ? ["others: share of the processors that other processes used meanwhile. It widens the intervals."]
      : []),
  ];
}
