import { useMemo } from "preact/hooks";
import type { Role } from "../../api/session.ts";
import { RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Section } from "../../parts/page.tsx";
import { Plot } from "../../parts/plot.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { hrefOf } from "../../shell/router.ts";
import { dayText, type Figures, type Group, idOf, nameOf, plotTime, type UsageRow } from "./figures.ts";
import { axisText } from "./over-time.tsx";
import { SaveCsv } from "./save-csv.tsx";

interface Props {
  readonly role: Role;
  readonly by: Group;
  readonly figures: Figures;
}

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** What tasks came to, by what the reader chose: a plot of the dearest, and all of them in a table. */
export function Breakdown({ role, by, figures }: Props) {
  // By day, the section above has it all.
  if (by === "day") return null;
  const { rows, total } = figures;
  return (
    <Section title={`By ${by}`}>
      <div class="flex min-w-0 flex-col gap-3">
        <TopLines figures={figures} />
        <Table
          label={`By ${by}, the dearest first`}
          columns={columnsFor(role, by, Number(total.charged))}
          rows={rows}
          keyOf={(row) => idOf(by, row)}
        />
        <SaveCsv by={by} figures={figures} rows={rows} />
      </div>
    </Section>
  );
}

function TopLines({ figures: { days, lines } }: Pick<Props, "figures">) {
  const data = useMemo(
    () =>
      [days.map(({ day = "" }) => plotTime(day)), ...(lines?.amounts ?? []).map((line) => [...line])] as [
        number[],
        ...number[][],
      ],
    [days, lines],
  );
  // One line is the one above; none says nothing.
  if (lines === undefined || lines.names.length < 2) return null;
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Plot
        label={`Charged by day for ${lines.names.join(", ")}, from ${dayText(first)} to ${dayText(last)}. The sums are in the table below.`}
        data={data}
        lines={lines.names}
        valueText={axisText}
        isDaily
      />
    </div>
  );
}

function columnsFor(role: Role, by: Group, whole: number): readonly Column<UsageRow>[] {
  const about: Column<UsageRow> = {
    title: titled(by),
    cell: (row) => <About by={by} row={row} role={role} />,
  };
  const share: Column<UsageRow> = {
    title: "Share",
    from: "sm",
    isNumber: true,
    cell: ({ charged }) => (whole > 0 ? percent.format(Number(charged) / whole) : ""),
  };
  return role === "operator" ? [about, ...COUNTS, ...OPERATORS, share] : [about, ...COUNTS, share];
}

function titled(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a row is of, with the way to more about it. */
function About({ by, row, role }: { readonly by: Group; readonly row: UsageRow; readonly role: Role }) {
  const name = <bdi class="wrap-anywhere">{nameOf(by, row) || "not known"}</bdi>;
  if (by === "model") return <RowLink href={hrefOf("tasks", "", { model: row.model })}>{name}</RowLink>;
  if (role === "operator" && by === "key" && row.key_id)
    return <RowLink href={hrefOf("keys", row.key_id)}>{name}</RowLink>;
  if (by === "account" && row.account_id)
    return <RowLink href={hrefOf("accounts", row.account_id)}>{name}</RowLink>;
  return name;
}

const COUNTS: readonly Column<UsageRow>[] = [
  { title: "Completed", isNumber: true, cell: ({ completed }) => completed },
  { title: "Failed", from: "sm", isNumber: true, cell: ({ failed }) => failed },
  { title: "Results", from: "md", isNumber: true, cell: ({ outputs }) => outputs },
  { title: "Charged", isNumber: true, cell: ({ charged }) => <Money amount={charged} /> },
];
const OPERATORS: readonly Column<UsageRow>[] = [
  {
    title: "Upstream cost",
    from: "md",
    isNumber: true,
    cell: ({ upstream_cost }) => <Money amount={upstream_cost} />,
  },
  { title: "Margin", from: "md", isNumber: true, cell: ({ margin }) => <Money amount={margin} /> },
];
