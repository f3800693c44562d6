import Table from "cli-table3";
import { isContended } from "./contention.ts";
import { pairedRatio, type Summary, summarize } from "./statistics.ts";

export type Unit = "%" | "req/s" | "tasks/s" | "ms" | "µs" | "MB" | "KB" | "MB/s";

/** `most` bounds the figure itself, the others its ratio to the baseline. */
export interface Target {
  readonly kind: "most" | "leastRatio" | "mostRatio";
  readonly value: number;
}

/** One line of the report. */
export interface Measurement {
  readonly name: string;
  readonly unit: Unit;
  readonly figure: Summary;
  readonly baseline?:
    | { readonly name?: string | undefined; readonly figure: Summary; readonly ratio: number }
    | undefined;
  readonly target?: Target | undefined;
  /** How the figure was taken, where the name does not say. */
  readonly note?: string | undefined;
  /** Share of the processors that others used meanwhile, as far as it is known. */
  readonly contention?: number | undefined;
}

export function measurement(
  given: Pick<Measurement, "name" | "unit" | "target" | "note"> & {
    readonly values: readonly number[];
    readonly baseline?: { readonly name?: string | undefined; readonly values: readonly number[] };
  },
): Measurement {
  const { values, baseline, ...rest } = given;
  return {
    ...rest,
    figure: summarize(values),
    baseline: baseline && {
      name: baseline.name,
      figure: summarize(baseline.values),
      ratio: pairedRatio(values, baseline.values),
    },
  };
}

/** Whether the target is met; undefined without one. */
export function isMet({ target, figure, baseline }: Measurement): boolean | undefined {
  switch (target?.kind) {
    case undefined:
      return undefined;
    case "most":
      return figure.median <= target.value;
    case "leastRatio":
      return baseline !== undefined && baseline.ratio >= target.value;
    case "mostRatio":
      return baseline !== undefined && baseline.ratio <= target.value;
  }
}

export function renderTable(measurements: readonly Measurement[]): string {
  const table = new Table({
    head: ["", "svc", "spread", "baseline", "spread", "ratio", "target", "", "others"],
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "left", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const each of measurements) {
    const { name, unit, figure, baseline, target } = each;
    table.push([
      baseline?.name === undefined ? name : `${name}\n  vs ${baseline.name}`,
      `${format(figure.median)} ${unit}`,
      spread(figure),
      baseline === undefined ? "" : format(baseline.figure.median),
      baseline === undefined ? "" : spread(baseline.figure),
      baseline === undefined ? "" : baseline.ratio.toFixed(2),
      target === undefined ? "" : `${target.kind === "leastRatio" ? "≥" : "≤"} ${target.value}`,
      verdict(each),
      each.contention === undefined ? "" : `${Math.round(each.contention * 100)} %`,
    ]);
  }
  const notes = measurements.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]));
  const noisy = measurements.some(({ contention }) => isContended(contention))
    ? [
        "others: share of the processors that other processes used meanwhile. Repeat noisy lines on a quiet machine.",
      ]
    : [];
  return [table.toString(), ...notes, ...noisy].join("\n");
}

export function verdict(each: Measurement): string {
  const met = isMet(each);
  if (met === undefined) return "";
  const word = met ? "ok" : "below target";
  return isContended(each.contention) ? `${word}, but noisy` : word;
}

function spread({ low, high, rounds }: Summary): string {
  return rounds < 2 ? "" : `${format(low)}–${format(high)}`;
}

function format(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
