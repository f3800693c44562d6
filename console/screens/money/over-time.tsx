import { useMemo } from "preact/hooks";
import type { Role } from "../../api/session.ts";
import { Money } from "../../parts/money.tsx";
import { Section } from "../../parts/page.tsx";
import { Plot } from "../../parts/plot.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { dayText, type Figures, plotTime, type UsageRow } from "./figures.ts";
import { SaveCsv } from "./save-csv.tsx";

const dollars = { style: "currency", currency: "USD" } as const;
const small = new Intl.NumberFormat(undefined, { ...dollars, maximumFractionDigits: 4 });
const large = new Intl.NumberFormat(undefined, {
  ...dollars,
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** An amount on an axis: with cents as long as there is room, so that all marks of an axis have as many digits. */
export const axisText = (value: number) => (Math.abs(value) < 10 ? small : large).format(value);

/** What was charged, cost and left, day by day. The numbers are in the table below the plot. */
export function OverTime({ role, figures }: { readonly role: Role; readonly figures: Figures }) {
  const { days, total } = figures;
  const isOperator = role === "operator";
  // Where no provider tells its price, lines of nothing would look like a cost of nothing.
  const hasCost = isOperator && total.upstream_cost !== null;
  const data = useMemo(
    () =>
      [
        days.map(({ day = "" }) => plotTime(day)),
        days.map(({ charged }) => Number(charged)),
        ...(hasCost
          ? [
              days.map(({ upstream_cost }) => Number(upstream_cost ?? 0)),
              days.map(({ margin }) => Number(margin ?? 0)),
            ]
          : []),
      ] as [number[], ...number[][]],
    [days, hasCost],
  );
  const lines = hasCost ? ["Charged", "Upstream cost", "Margin"] : ["Charged"];
  return (
    <Section title="Day by day">
      <div class="flex flex-col gap-3 rounded-xl border border-line bg-card p-4">
        <Plot
          label={`${lines.join(", ")} by day, from ${dayText(figures.since)} to ${dayText(figures.until)}`}
          data={data}
          lines={lines}
          valueText={axisText}
          isDaily
        />
        <details>
          <summary class="text-sm text-soft">The numbers</summary>
          <div class="mt-3 flex flex-col gap-3">
            <SaveCsv by="day" figures={figures} rows={days} />
            <Table
              label="By day, the latest first"
              columns={isOperator ? [...COLUMNS, ...OPERATORS] : COLUMNS}
              rows={[...days].reverse()}
              keyOf={({ day }) => day ?? ""}
            />
          </div>
        </details>
      </div>
    </Section>
  );
}

const COLUMNS: readonly Column<UsageRow>[] = [
  { title: "Day (UTC)", cell: ({ day = "" }) => dayText(day) },
  { title: "Completed", isNumber: true, cell: ({ completed }) => completed },
  { title: "Failed", from: "sm", isNumber: true, cell: ({ failed }) => failed },
  { title: "Charged", isNumber: true, cell: ({ charged }) => <Money amount={charged} /> },
];
const OPERATORS: readonly Column<UsageRow>[] = [
  {
    title: "Upstream cost",
    from: "sm",
    isNumber: true,
    cell: ({ upstream_cost }) => <Money amount={upstream_cost} />,
  },
  { title: "Margin", from: "sm", isNumber: true, cell: ({ margin }) => <Money amount={margin} /> },
];
