import { useMemo, useState } from "preact/hooks";
import { Plot } from "../../parts/plot.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { timeText } from "../../parts/time.tsx";
import {
  axisText,
  type Chart,
  columnsOf,
  type History,
  type Minute,
  minutesOf,
  valueText,
} from "./series.ts";

/** A plot with what it comes to at present, and its numbers below. */
export function ChartCard({ chart, history }: { readonly chart: Chart; readonly history: History }) {
  const { title, unit, lines } = chart;
  const data = useMemo(() => columnsOf(history, chart), [history, chart]);
  const [isOpen, setOpen] = useState(false);
  const { at, minutes } = history;
  const [first, last] = [at[0] ?? 0, at.at(-1) ?? 0];
  const now = lines.map(([name, figure]) => {
    const text = valueText(unit, minutes[figure].at(-1) ?? 0);
    return lines.length === 1 ? text : `${name} ${text}`;
  });
  return (
    <section class="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-card p-4">
      <h3 class="font-medium">{title}</h3>
      <p class="text-sm text-soft tabular-nums">{now.join(" · ")}</p>
      <Plot
        label={`${title}, from ${timeText(first)} to ${timeText(last)}. In the last minute: ${now.join(", ")}. The numbers are in the table below.`}
        data={data}
        lines={lines.map(([name]) => name)}
        height={160}
        valueText={(value) => axisText(unit, value)}
        pointText={(value) => valueText(unit, value)}
        isFromZero
        group="health"
      />
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary class="text-sm text-soft">
          The numbers<span class="sr-only"> of {title.toLowerCase()}</span>
        </summary>
        {isOpen && (
          <section
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it has to be reached by keyboard
            tabIndex={0}
            aria-label={`Numbers: ${title}`}
            class="mt-3 max-h-96 overflow-y-auto"
          >
            <Table
              label={`${title}, the latest minute first`}
              columns={columnsFor(chart)}
              rows={minutesOf(history, chart)}
              keyOf={({ at: time }) => String(time)}
            />
          </section>
        )}
      </details>
    </section>
  );
}

function columnsFor({ unit, lines }: Chart): Column<Minute>[] {
  return [
    { title: "Minute until", cell: ({ at }) => timeText(at) },
    ...lines.map(
      ([title], i): Column<Minute> => ({
        title,
        isNumber: true,
        cell: ({ values }) => valueText(unit, values[i] ?? 0),
      }),
    ),
  ];
}
