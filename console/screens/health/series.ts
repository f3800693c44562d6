import type { Schemas } from "../../api/published.d.ts";
import { countText } from "../../parts/count.ts";
import { durationText } from "../../parts/duration.ts";
import { sizeText } from "../../parts/size.ts";

export type History = Schemas["History"];
type Figure = keyof History["minutes"];

/** A plot: lines of figures of one unit. */
export interface Chart {
  readonly title: string;
  readonly unit: "count" | "ms" | "bytes";
  readonly lines: readonly (readonly [name: string, figure: Figure])[];
}

/** What is plotted. The colours of lines follow from their order: the fourth one is that of what is bad. */
export const CHARTS: readonly Chart[] = [
  {
    title: "Requests answered a minute",
    unit: "count",
    lines: [
      ["2xx", "answered_2xx"],
      ["3xx", "answered_3xx"],
      ["4xx", "answered_4xx"],
      ["5xx", "answered_5xx"],
    ],
  },
  {
    title: "Tasks a minute",
    unit: "count",
    lines: [
      ["Accepted", "created"],
      ["Completed", "completed"],
      ["Failed", "failed"],
    ],
  },
  {
    title: "Waiting and under way",
    unit: "count",
    lines: [
      ["Tasks that wait", "queued"],
      ["Tasks under way", "under_way"],
      ["Callbacks owed", "callbacks_owed"],
    ],
  },
  {
    title: "Lateness of the event loop",
    unit: "ms",
    lines: [
      ["95 in 100 timers", "lag_p95_ms"],
      ["The latest", "lag_max_ms"],
    ],
  },
  { title: "Memory of the process", unit: "bytes", lines: [["Memory", "rss_bytes"]] },
  { title: "Left on the disk", unit: "bytes", lines: [["Left", "disk_free_bytes"]] },
  { title: "Database", unit: "bytes", lines: [["Size", "data_bytes"]] },
  { title: "Write-ahead log", unit: "bytes", lines: [["Size", "wal_bytes"]] },
];

const axisFormat = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });

/** A value in its unit. */
export function valueText(unit: Chart["unit"], value: number): string {
  if (unit === "bytes") return sizeText(value);
  if (unit === "count") return countText(value);
  return value < 10 ? `${countText(Math.round(value * 100) / 100)} ms` : durationText(value);
}

/** The same at the axis of a plot, where there is little room. */
export function axisText(unit: Chart["unit"], value: number): string {
  return unit === "count" ? axisFormat.format(value) : valueText(unit, value);
}

const MINUTE_SEC = 60;
/** Minutes are a little longer than a minute, by what reading them takes; with more between two of them, one is missing. */
const MISSING_SEC = 1.9 * MINUTE_SEC;

/** Columns of a plot: times, then values for each line. Where minutes are missing, the lines have a gap. */
export function columnsOf(
  { at, minutes }: Pick<History, "at" | "minutes">,
  { lines }: Pick<Chart, "lines">,
): [number[], ...(number | null)[][]] {
  const times: number[] = [];
  const values = lines.map((): (number | null)[] => []);
  for (const [i, time] of at.entries()) {
    const before = at[i - 1];
    if (before !== undefined && time - before > MISSING_SEC) {
      times.push(before + MINUTE_SEC);
      for (const column of values) column.push(null);
    }
    times.push(time);
    for (const [line, [, figure]] of lines.entries()) values[line]?.push(minutes[figure][i] ?? null);
  }
  return [times, ...values];
}

/** A minute of a table: its time, and the value of each line. */
export interface Minute {
  readonly at: number;
  readonly values: readonly number[];
}

/** The minutes of a table, the latest first. */
export function minutesOf(
  { at, minutes }: Pick<History, "at" | "minutes">,
  { lines }: Pick<Chart, "lines">,
): Minute[] {
  return at
    .map((time, i) => ({ at: time, values: lines.map(([, figure]) => minutes[figure][i] ?? 0) }))
    .reverse();
}

/** All figures of all minutes for other programs, exact as the service gave them. */
export function csvOf({ at, minutes }: Pick<History, "at" | "minutes">): string {
  const figures = Object.entries(minutes);
  const rows = at.map((time, i) =>
    [new Date(time * 1_000).toISOString(), ...figures.map(([, values]) => values[i] ?? "")].join(),
  );
  return `${[["minute_end", ...figures.map(([name]) => name)].join(), ...rows].join("\r\n")}\r\n`;
}

type Route = History["routes"][number];

/** By the share of failures of the last hour, then of the last day, then by how many attempts there were. */
export function sortedRoutes(routes: readonly Route[]): Route[] {
  const rate = ({ error_rate }: Route["hour"]) => error_rate ?? -1;
  const count = ({ completed, failed }: Route["hour"]) => completed + failed;
  return [...routes].sort(
    (one, other) =>
      rate(other.hour) - rate(one.hour) ||
      rate(other.day) - rate(one.day) ||
      count(other.day) - count(one.day),
  );
}
