import Table from "cli-table3";
import { isContended } from "./contention.ts";
import { pairedRatio, type Summary, summarize } from "./statistics.ts";

export type Unit = "%" | "req/s" | "tasks/s" | "ms" | "µs" | "MB" | "KB" | "MB/s";

/** `least` and `most` bound the figure itself, the others its ratio to the baseline. */
export interface Target {
  readonly kind: "least" | "most" | "leastRatio" | "mostRatio";
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
  /** Processor time of the server for one request or task, in µs: user and system time of all its threads and processes. */
  readonly eachUs?:
    | {
        readonly figure: Summary;
        readonly baseline?: { readonly figure: Summary; readonly ratio: number } | undefined;
      }
    | undefined;
  /** What is drawn for one request or task; nothing, where it is left out. */
  readonly renders?: string | undefined;
  /** How the figure was taken, where the name does not say. */
  readonly note?: string | undefined;
  /** Share of the processors that others used meanwhile, as far as it is known. */
  readonly contention?: number | undefined;
}

export function measurement(
  given: Pick<Measurement, "name" | "unit" | "target" | "note" | "renders"> & {
    readonly values: readonly number[];
    readonly baseline?: { readonly name?: string | undefined; readonly values: readonly number[] };
    /** Left out of the report where there are none, since the system does not tell. */
    readonly eachUs?: { readonly values: readonly number[]; readonly baseline?: readonly number[] };
  },
): Measurement {
  const { values, baseline, eachUs, ...rest } = given;
  return {
    ...rest,
    figure: summarize(values),
    baseline: baseline && {
      name: baseline.name,
      figure: summarize(baseline.values),
      ratio: pairedRatio(values, baseline.values),
    },
    eachUs:
      eachUs === undefined || eachUs.values.length === 0
        ? undefined
        : {
            figure: summarize(eachUs.values),
            baseline:
              eachUs.baseline === undefined || eachUs.baseline.length === 0
                ? undefined
                : {
                    figure: summarize(eachUs.baseline),
                    ratio: pairedRatio(eachUs.values, eachUs.baseline),
                  },
          },
  };
}

/** Whether the target is met; undefined without one. */
export function isMet({ target, figure, baseline }: Measurement): boolean | undefined {
  switch (target?.kind) {
    case undefined:
      return undefined;
    case "least":
      return figure.median >= target.value;
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
    const { name, unit, figure, baseline, target, eachUs } = each;
    const second = (text: string | undefined) => (text === undefined ? "" : `\n${text}`);
    table.push([
      baseline?.name === undefined ? name : `${name}\n  vs ${baseline.name}`,
      `${format(figure.median)} ${unit}${second(eachUs && `${format(eachUs.figure.median)} µs each`)}`,
      `${spread(figure)}${second(eachUs && spread(eachUs.figure))}`,
      baseline === undefined
        ? ""
        : `${format(baseline.figure.median)}${second(eachUs?.baseline && format(eachUs.baseline.figure.median))}`,
      baseline === undefined
        ? ""
        : `${spread(baseline.figure)}${second(eachUs?.baseline && spread(eachUs.baseline.figure))}`,
      baseline === undefined
        ? ""
        : `${baseline.ratio.toFixed(2)}${second(eachUs?.baseline?.ratio.toFixed(2))}`,
      target === undefined ? "" : `${target.kind.startsWith("least") ? "≥" : "≤"} ${target.value}`,
      verdict(each),
      each.contention === undefined ? "" : `${Math.round(each.contention * 100)} %`,
    ]);
  }
  const notes = measurements.flatMap(({ name, note, renders }) => {
    // An indented line is of the same requests as the one above it.
    const isSame = renders === undefined || name.startsWith(" ");
    const said = [...(isSame ? [] : [`draws ${renders}`]), ...(note === undefined ? [] : [note])];
    return said.length === 0 ? [] : [`${name.trim()}: ${said.join("; ")}`];
  });
  const noisy = measurements.some(({ contention }) => isContended(contention))
    ? [
        "others: share of the processors that other processes used meanwhile. Repeat noisy lines on a quiet machine.",
      ]
    : [];
  return [table.toString(), ...notes, ...noisy].join("\n");
}

function verdict(each: Measurement): string {
  const met = isMet(each);
  if (met === undefined) return "";
  const word = met ? "ok" : "below target";
  return isContended(each.contention) ? `${word}, but noisy` : word;
}

function spread({ low, high, rounds }: Summary): string {
  return rounds < 2 ? "" : `${format(low)}–${format(high)}`;
}

export function format(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
