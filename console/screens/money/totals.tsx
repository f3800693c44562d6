import type { Role } from "../../api/session.ts";
import { counted, countText } from "../../parts/count.ts";
import { Figure, Figures } from "../../parts/figure.tsx";
import { Money } from "../../parts/money.tsx";
import type { UsageSum } from "./figures.ts";

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** The sums at a glance. */
export function Totals({ role, total }: { readonly role: Role; readonly total: UsageSum }) {
  const { charged, upstream_cost, margin, completed, failed, cancelled, outputs } = total;
  const ended = completed + failed;
  return (
    <Figures>
      <Figure name="Charged" more={completed > 0 ? counted(outputs, "result") : undefined}>
        <Money amount={charged} />
      </Figure>
      {role === "operator" && (
        <>
          <Figure name="Upstream cost" more={upstream_cost === null ? "no provider told it" : undefined}>
            <Money amount={upstream_cost} />
          </Figure>
          <Figure name="Margin" more={marginText(margin, upstream_cost)}>
            <Money amount={margin} />
          </Figure>
        </>
      )}
      <Figure name="Tasks completed" more={cancelled > 0 ? `${countText(cancelled)} cancelled` : undefined}>
        {countText(completed)}
      </Figure>
      <Figure name="Failed" more={ended > 0 ? percent.format(failed / ended) : undefined}>
        {countText(failed)}
      </Figure>
    </Figures>
  );
}

function marginText(margin: string | null | undefined, cost: string | null | undefined): string | undefined {
  if (margin === null || margin === undefined) return undefined;
  const charged = Number(margin) + Number(cost ?? 0);
  return charged > 0 ? `${percent.format(Number(margin) / charged)} where the cost is known` : undefined;
}
