import { useState } from "preact/hooks";
import type { Schemas } from "../../api/published.d.ts";
import { Button } from "../../parts/button.tsx";
import { countText } from "../../parts/count.ts";
import { durationText } from "../../parts/duration.ts";
import { Section } from "../../parts/page.tsx";
import { Bar } from "./bar.tsx";

type Overview = Schemas["Overview"];
type Lane = Overview["lanes"][number];

/** As many as fit beside the changes. */
const SHOWN = 8;
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** The queue of each account of a provider, those with the most to do first. */
export function Lanes({ overview: { lanes, providers } }: { readonly overview: Overview }) {
  const [isAll, setAll] = useState(false);
  const sorted = byLoad(lanes);
  return (
    <Section title="Lanes">
      {lanes.length === 0 && <p class="text-soft">No provider is switched on.</p>}
      <ul class="grid grid-cols-1 gap-2 sm:grid-cols-2 xl:grid-cols-1">
        {sorted.slice(0, isAll ? undefined : SHOWN).map((lane) => (
          <li
            key={lane.lane}
            class="flex min-w-0 flex-col gap-1 rounded-xl border border-line bg-card p-3 text-sm"
          >
            <span class="font-medium wrap-anywhere">{lane.lane}</span>
            <Bar share={lane.limit ? lane.under_way / lane.limit : 0} />
            <span class="text-soft">{loadText(lane)}</span>
            <span class="text-soft">
              {hourText(providers.find(({ provider }) => provider === lane.lane))}
            </span>
          </li>
        ))}
      </ul>
      {lanes.length > SHOWN && (
        <div>
          <Button aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? "Show fewer" : `Show all ${lanes.length}`}
          </Button>
        </div>
      )}
    </Section>
  );
}

/** Those with the most to do first; the others keep their order. */
function byLoad(lanes: readonly Lane[]): Lane[] {
  const load = ({ queued, under_way }: Lane) => queued + under_way;
  return [...lanes].sort((one, other) => load(other) - load(one));
}

/** `3 of 8 being made, 12 wait, the oldest for 40.0 s`. */
function loadText({ queued, oldest_seconds, under_way, limit }: Lane): string {
  const made =
    limit === null
      ? `switched off${under_way > 0 ? `, ${countText(under_way)} being made` : ""}`
      : `${countText(under_way)} of ${countText(limit)} being made`;
  if (queued === 0) return made;
  const oldest = oldest_seconds === null ? "" : `, the oldest for ${durationText(oldest_seconds * 1_000)}`;
  return `${made}, ${countText(queued)} ${queued === 1 ? "waits" : "wait"}${oldest}`;
}

function hourText(endings: Overview["providers"][number] | undefined): string {
  if (endings === undefined || endings.success_rate === null) return "nothing ended in the last hour";
  const { completed, failed, success_rate } = endings;
  const share = percent.format(success_rate);
  return `${share} of ${countText(completed + failed)} completed in the last hour`;
}
