import type { ComponentChildren } from "preact";
import type { Role } from "../../api/session.ts";
import { Money } from "../../parts/money.tsx";
import type { UsageSum } from "./figures.ts";

const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** The sums at a glance. */
export function Totals({ role, total }: { readonly role: Role; readonly total: UsageSum }) {
  const { charged, upstream_cost, margin, completed, failed, cancelled, outputs } = total;
  const ended = completed + failed;
  return (
    <dl class="grid grid-cols-2 gap-3 lg:grid-cols-[repeat(auto-fit,minmax(11rem,1fr))]">
      <Card name="Charged" more={completed > 0 ? counted(outputs, "result") : undefined}>
        <Money amount={charged} />
      </Card>
      {role === "operator" && (
        <>
          <Card name="Upstream cost" more={upstream_cost === null ? "no provider told it" : undefined}>
            <Money amount={upstream_cost} />
          </Card>
          <Card name="Margin" more={marginText(margin, upstream_cost)}>
            <Money amount={margin} />
          </Card>
        </>
      )}
      <Card name="Tasks completed" more={cancelled > 0 ? `${count.format(cancelled)} cancelled` : undefined}>
        {count.format(completed)}
      </Card>
      <Card name="Failed" more={ended > 0 ? percent.format(failed / ended) : undefined}>
        {count.format(failed)}
      </Card>
    </dl>
  );
}

/** `1 result`, `2 results`. */
export function counted(number: number, what: string): string {
  return `${count.format(number)} ${what}${number === 1 ? "" : "s"}`;
}

function marginText(margin: string | null | undefined, cost: string | null | undefined): string | undefined {
  if (margin === null || margin === undefined) return undefined;
  const charged = Number(margin) + Number(cost ?? 0);
  return charged > 0 ? `${percent.format(Number(margin) / charged)} where the cost is known` : undefined;
}

function Card({
  name,
  more,
  children,
}: {
  readonly name: string;
  readonly more: string | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="flex min-w-0 flex-col rounded-xl border border-line bg-card p-4">
      <dt class="text-sm text-soft">{name}</dt>
      <dd class="text-2xl font-semibold tracking-tight break-words tabular-nums">{children}</dd>
      {more !== undefined && <dd class="text-sm text-soft">{more}</dd>}
    </div>
  );
}
