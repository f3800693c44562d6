import type { Schemas } from "../../api/published.d.ts";
import { countText } from "../../parts/count.ts";
import { Figure, Figures } from "../../parts/figure.tsx";
import { Money } from "../../parts/money.tsx";
import type { View } from "./feed.ts";

const rate = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

interface Props {
  readonly view: View;
  /** When the page was opened, as the reader's country writes it. */
  readonly since: string;
  /** Of the whole service, for operators who watch all of it. */
  readonly overview: Schemas["Overview"] | undefined;
}

/** How many tasks are where, and what became of those that ended while somebody watched. */
export function Counters({ view, since, overview }: Props) {
  const { ends, pending, processing, isWhole, chargedMicros } = view;
  const ended = ends.completed + ends.failed;
  const atLeast = (number: number) => `${countText(number)}${isWhole ? "" : "+"}`;
  return (
    <Figures>
      <Figure name="Waiting">{overview ? countText(overview.tasks.queued) : atLeast(pending)}</Figure>
      <Figure
        name="Being made"
        more={overview && `of ${countText(overview.tasks.limit)} that are made at once`}
      >
        {overview ? countText(overview.tasks.under_way) : atLeast(processing)}
      </Figure>
      {overview && (
        <Figure name="Accepted a second" more={<Minute counts={overview.creates.by_second} />}>
          {rate.format(overview.creates.per_second)}
        </Figure>
      )}
      <Figure name="Completed" more={`since ${since}`}>
        {countText(ends.completed)}
      </Figure>
      <Figure
        name="Failed"
        more={ended > 0 ? `${percent.format(ends.failed / ended)} of what ended` : undefined}
      >
        {countText(ends.failed)}
      </Figure>
      <Figure name="Charged" more={`since ${since}`}>
        <Money amount={(chargedMicros / 1e6).toFixed(6)} />
      </Figure>
    </Figures>
  );
}

const HEIGHT = 20;
const SECONDS = 60;

/** The latest minute, a bar for each second. The figure above says it in a number. */
function Minute({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  return (
    <svg
      aria-hidden="true"
      class="mt-1 block h-5 w-full text-accent"
      viewBox={`0 0 ${SECONDS} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {counts.slice(-SECONDS).map((each, i, { length }) => {
        const height = each === 0 ? 0.5 : (each / most) * HEIGHT;
        const x = SECONDS - length + i;
        return <rect key={x} x={x} y={HEIGHT - height} width={0.7} height={height} fill="currentColor" />;
      })}
    </svg>
  );
}
