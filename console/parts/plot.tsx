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
  /** The times are midnights on the reader's clock: the axis has days alone. */
  readonly isDaily?: boolean;
}

const DAY_SEC = 86_400;
/** Days between the marks of an axis. */
const DAYS = [1, 2, 3, 7, 14, 30, 91, 182, 365].map((days) => days * DAY_SEC);
const dayFormat = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const dayText = (at: number) => dayFormat.format(at * 1_000);

const STROKES = ["--accent", "--good", "--warn", "--bad", "--busy"];

/** Lines over time. The library is loaded when the first plot is shown. */
export function Plot({ label, data, lines, height = 220, valueText = String, isDaily = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(valueText);
  latest.current = valueText;
  const names = lines.join("\n");
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    let stop = () => {};
    let isLeft = false;
    void import("uplot").then(({ default: UPlot }) => {
      if (isLeft) return;
      const plot = new UPlot(
        optionsOf(place, names.split("\n"), height, (value) => latest.current(value), isDaily),
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
  }, [data, names, height, isDaily]);
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

function optionsOf(
  place: HTMLElement,
  names: readonly string[],
  height: number,
  valueText: (value: number) => string,
  isDaily: boolean,
): Options {
  const style = getComputedStyle(place);
  const colour = (name: string) => canvasColour(place, name);
  const axis = {
    stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: place.clientWidth,
    height,
    series: [
      isDaily ? { label: "Day", value: (_, at) => (at === null ? "–" : dayText(at)) } : {},
      ...names.map((label, i) => ({
        label,
        width: 2,
        stroke: colour(STROKES[i % STROKES.length] ?? "--accent"),
      })),
    ],
    axes: [
      isDaily ? { ...axis, incrs: DAYS, values: (_, ticks) => ticks.map(dayText) } : axis,
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
