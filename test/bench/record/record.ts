import type { BenchComparison } from "../compare/render.ts";
import type { Standing } from "../compare/revision.ts";
import { isContended } from "../run/contention.ts";
import type { Machine } from "../run/machine.ts";
import { isMet, type Measurement } from "../run/report.ts";
import type { Summary } from "../run/statistics.ts";

/** What is known of a whole run. */
export interface RunFacts {
  readonly version: string;
  /** Undefined for an executable that somebody else chose. */
  readonly standing: Standing | undefined;
  readonly takenAt: Date;
  readonly command: string;
  readonly machine: Machine;
  readonly isQuick: boolean;
  readonly rounds: number;
}

/** A line of the report, with the bench that it is of. */
export type BenchMeasurement = Measurement & { readonly bench: string };

/** A run as JSON, with every value of every round. */
export type FiguresRecord = ReturnType<typeof recordFigures>;

export function recordFigures(facts: RunFacts, lines: readonly BenchMeasurement[]) {
  return { ...presentFacts(facts, "figures"), rounds: facts.rounds, lines: lines.map(presentLine) };
}

/** A comparison as JSON, with both values of every pair. */
export function recordComparison(
  facts: RunFacts,
  before: string,
  pairs: number,
  benches: readonly BenchComparison[],
) {
  return {
    ...presentFacts(facts, "comparison"),
    against_commit: before,
    pairs,
    rounds: facts.rounds,
    lines: benches.flatMap((each) => ("notCompared" in each ? [] : presentCompared(each))),
    not_compared: benches.flatMap((each) =>
      "notCompared" in each ? [{ bench: each.bench, reason: each.notCompared }] : [],
    ),
  };
}

/** Why these lines are no record of a version: a bench found nothing to measure, or others used the machine beside it. */
export function recordHindrance(
  benches: readonly string[],
  lines: readonly BenchMeasurement[],
): string | undefined {
  const missing = benches.filter((name) => !lines.some(({ bench }) => bench === name));
  if (missing.length > 0) return `${missing.join(", ")} could not be measured here.`;
  const isNoisy = ({ contention }: Measurement) => contention === undefined || isContended(contention);
  const noisy = new Set(lines.filter(isNoisy).map(({ bench }) => bench));
  if (noisy.size === 0) return undefined;
  return `others used the machine, or may have, beside ${[...noisy].join(", ")}. Repeat it on a quiet one.`;
}

function presentFacts(facts: RunFacts, kind: "figures" | "comparison") {
  const { machine, standing } = facts;
  return {
    format: 1,
    kind,
    version: facts.version,
    commit: standing?.commit ?? null,
    uncommitted_changes: standing?.isDirty ?? null,
    taken_at: facts.takenAt.toISOString(),
    command: facts.command,
    machine: {
      processor: machine.processor,
      cores: machine.cores,
      memory_gb: machine.memoryGb,
      system: machine.system,
      bun: machine.bun,
      core_each: machine.isPinned,
    },
    quick: facts.isQuick,
  };
}

function presentLine(line: BenchMeasurement) {
  const { bench, name, unit, figure, baseline, eachUs, target } = line;
  const beside = baseline && {
    name: baseline.name ?? null,
    ...presentSummary(baseline.figure),
    ratio: baseline.ratio,
  };
  const eachBeside = eachUs?.baseline;
  return {
    ...{ bench, name: name.trim(), unit, ...presentSummary(figure) },
    baseline: beside ?? null,
    processor_time_us:
      eachUs === undefined
        ? null
        : {
            ...presentSummary(eachUs.figure),
            baseline:
              eachBeside === undefined
                ? null
                : { ...presentSummary(eachBeside.figure), ratio: eachBeside.ratio },
          },
    target: target === undefined ? null : { ...target, met: isMet(line) ?? null },
    renders: line.renders ?? null,
    note: line.note ?? null,
    others: line.contention ?? null,
  };
}

function presentSummary({ median, low, high, values }: Summary) {
  return { median, low, high, values };
}

function presentCompared(compared: Exclude<BenchComparison, { notCompared: string }>) {
  return compared.lines.map(({ name, unit, before, after, ratio, verdict, renders }) => ({
    ...{ bench: compared.bench, name: name.trim(), unit, before, after, verdict },
    ratio: ratio ?? null,
    renders: renders ?? null,
    others: compared.contention ?? null,
  }));
}
