import type { BenchComparison } from "../compare/render.ts";
import type { Standing } from "../compare/revision.ts";
import type { Machine } from "../run/machine.ts";
import { isMet, type Measurement } from "../run/report.ts";
import type { Summary } from "../run/statistics.ts";

/** What is known of a whole run. */
export interface RunFacts {
  readonly version: string;
  /** Undefined for an executable that somebody else chose. */
  readonly standing: Standing | undefined;
  /** Hash of what was measured (`readSources`). */
  readonly sources: string | undefined;
  readonly takenAt: Date;
  readonly command: string;
  readonly machine: Machine;
  readonly isQuick: boolean;
  readonly rounds: number;
}

/** A line of the report, with the bench that it is of. */
export type BenchMeasurement = Measurement & { readonly bench: string };

/** One run of a bench. */
export interface BenchRun {
  readonly bench: string;
  /** Undefined as in the facts of a whole run. */
  readonly commit: string | undefined;
  /** When it began, as ISO 8601 has it. */
  readonly takenAt: string;
  readonly seconds: number;
  /** Share of the processors that others used meanwhile, as far as it is known. */
  readonly contention: number | undefined;
  /** None where this machine lacks what it needs. */
  readonly lines: readonly BenchMeasurement[];
  /** What it said when it failed. */
  readonly failure?: string | undefined;
}

/** A run as JSON, with every value of every round. */
export type FiguresRecord = ReturnType<typeof recordFigures>;

export function recordFigures(facts: RunFacts, runs: readonly BenchRun[]) {
  return {
    ...presentFacts(facts, "figures"),
    rounds: facts.rounds,
    benches: runs.map(({ bench, commit, takenAt, seconds, contention }) => ({
      ...{ bench, commit: commit ?? null, taken_at: takenAt, seconds, others: contention ?? null },
    })),
    lines: runs.flatMap(({ lines }) => lines.map(presentLine)),
  };
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

function presentFacts(facts: RunFacts, kind: "figures" | "comparison") {
  const { machine, standing } = facts;
  return {
    format: 1,
    kind,
    version: facts.version,
    commit: standing?.commit ?? null,
    sources: facts.sources ?? null,
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
