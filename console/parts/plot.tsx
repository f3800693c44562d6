import { useEffect, useRef } from "preact/hooks";
import type { AlignedData, Options } from "uplot";

interface Props {
  /** What it shows, for those who do not see it. The same numbers are in a table beside every plot. */
  readonly label: string;
  /** Columns: times in Unix seconds, then a column for each line. */
  readonly data: AlignedData;
  /** Names of the lines, in the order of their columns. */
  readonly lines: readonly string[];
  /** Pixels. */
  readonly height?: number;
  readonly valueText?: (value: number) => string;
  /** Of the value under the pointer; the plain number without it. */
  readonly pointText?: (value: number) => string;
  /** The axis of values begins at zero, so that small changes of large values look small. */
  readonly isFromZero?: boolean;
  /** Plots of one group show the same moment under the pointer. */
  readonly group?: string;
  /** The times are midnights on the reader's clock: the axis has days alone. */
  readonly isDaily?: boolean;
}

const DAY_SEC = 86_400;
/** Days between the marks of an axis. */
const DAYS = [1, 2, 3, 7, 14, 30, 91, 182, 365].map((days) => days * DAY_SEC);
/** Pixels between the marks of an axis of times. */
const CLOCK_SPACE = 80;
const numberFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });
const clockFormat = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const momentFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clockText = (at: number) => clockFormat.format(at * 1_000);
const momentText = (at: number) => momentFormat.format(at * 1_000);
const dayFormat = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const dayText = (at: number) => dayFormat.format(at * 1_000);

const STROKES = ["--accent", "--good", "--warn", "--bad", "--busy"];

/** Lines over time. The library is loaded when the first plot is shown. */
export function Plot(props: Props) {
  const { label, data, lines, height = 220, isDaily = false, isFromZero = false, group, ...texts } = props;
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(texts);
  latest.current = texts;
  const names = lines.join("\n");
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    let stop = () => {};
    let isLeft = false;
    void import("uplot").then(({ default: UPlot }) => {
      if (isLeft) return;
      const plot = new UPlot(
        optionsOf(place, names.split("\n"), {
          height,
          isDaily,
          isFromZero,
          group,
          texts: () => latest.current,
        }),
        data,
        place,
      );
      const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }));
      watch.observe(place);
      stop = () => {
        watch.disconnect();
        plot.destroy();
      };
    });
    return () => {
      isLeft = true;
      stop();
    };
  }, [data, names, height, isDaily, isFromZero, group]);
  return (
    <div
      ref={box}
      role="img"
      aria-label={label}
      class="w-full min-w-0"
      style={{ minHeight: `${height}px` }}
    />
  );
}

interface Look extends Required<Pick<Props, "height" | "isDaily" | "isFromZero">> {
  readonly group: string | undefined;
  /** As they are at present. */
  readonly texts: () => Pick<Props, "valueText" | "pointText">;
}

function optionsOf(
  place: HTMLElement,
  names: readonly string[],
  { height, isDaily, isFromZero, group, texts }: Look,
): Options {
  const style = getComputedStyle(place);
  const colour = (name: string) => canvasColour(place, name);
  const axis = {
    stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  const valueText = (value: number) => (texts().valueText ?? String)(value);
  const pointText = (value: number) => (texts().pointText ?? numberFormat.format)(value);
  return {
    width: place.clientWidth,
    height,
    ...(group === undefined ? {} : { cursor: { sync: { key: group, setSeries: false } } }),
    // Lines at the very top would be cut.
    ...(isFromZero ? { scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } } } : {}),
    series: [
      {
        label: isDaily ? "Day" : "Time",
        value: (_, at) => (at === null ? "–" : isDaily ? dayText(at) : momentText(at)),
      },
      ...names.map((label, i) => ({
        label,
        width: 2,
        stroke: colour(STROKES[i % STROKES.length] ?? "--accent"),
        value: (_: unknown, value: number | null) => (value === null ? "–" : pointText(value)),
      })),
    ],
    axes: [
      isDaily
        ? { ...axis, incrs: DAYS, values: (_, ticks) => ticks.map(dayText) }
        : { ...axis, space: CLOCK_SPACE, values: (_, ticks) => ticks.map(clockText) },
      { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => valueText(tick)) },
    ],
    legend: { show: names.length > 1 },
  };
}

/** A canvas takes no variables: the browser is asked what the colour comes to in this theme. */
function canvasColour(place: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
