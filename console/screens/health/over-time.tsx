import { ask } from "../../api/ask.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice } from "../../parts/field.tsx";
import { Reading, Section } from "../../parts/page.tsx";
import { saveCsv } from "../../parts/save.ts";
import { Time, timeText } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { query, setQuery } from "../../shell/router.ts";
import { BeatStrip } from "./beat-strip.tsx";
import { ChartCard } from "./chart.tsx";
import { Routes } from "./routes.tsx";
import { CHARTS, csvOf, type History } from "./series.ts";
import { Stages } from "./stages.tsx";

/** A new minute is there once a minute. */
const READ_MS = 60_000;
const PERIODS = [
  ["60", "Last hour"],
  ["360", "Last 6 hours"],
  ["1440", "Last day"],
] as const;
type Period = (typeof PERIODS)[number][0];

/** How the service has done: minute by minute, by stage and by route. */
export function OverTime() {
  const { minutes = "" } = query.value;
  const period = PERIODS.find(([value]) => value === minutes)?.[0] ?? "60";
  const reading = useReading(`history ${period}`, (signal) =>
    ask("GET /admin/v1/history", { query: { minutes: Number(period) } }, { signal }),
  );
  useEvery(READ_MS, reading);
  const { data, problem, again } = reading;
  return (
    <>
      <Section title="Minute by minute">
        <Head period={period} history={data} />
        {problem !== undefined && <Trouble problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Reading what="how the service has done" />}
        {data !== undefined && <Plots history={data} />}
      </Section>
      {data !== undefined && (
        <>
          <Stages stages={data.stages} />
          <Routes routes={data.routes} />
        </>
      )}
    </>
  );
}

function Head({ period, history }: { readonly period: Period; readonly history: History | undefined }) {
  const last = history?.at.at(-1);
  return (
    <div class="flex flex-wrap items-end gap-2">
      <div class="w-40">
        <Choice
          label="Period"
          value={period}
          choices={PERIODS}
          onChoice={(chosen) => setQuery({ minutes: chosen === "60" ? "" : chosen })}
        />
      </div>
      {history !== undefined && last !== undefined && (
        <Button onClick={() => saveCsv(`health-until-${fileTime(last)}.csv`, csvOf(history))}>
          Save as CSV
        </Button>
      )}
    </div>
  );
}

/** A time as names of files may have it. */
function fileTime(at: number): string {
  return new Date(at * 1_000).toISOString().slice(0, 16).replace(":", "");
}

function Plots({ history }: { readonly history: History }) {
  const { since, at } = history;
  if (at.length === 0)
    return (
      <Empty title="The first minute is not over yet">
        Here is each minute of the last day: requests, tasks, the queue, the event loop, memory and disk. The
        service started <Time at={since} />, and what it counts begins with its start. For longer than a day,
        and more than one server, have Prometheus read <code class="font-mono text-ink">/metrics</code>.
      </Empty>
    );
  return (
    <>
      <BeatStrip history={history} />
      <div class="grid min-w-0 grid-cols-1 gap-3 lg:grid-cols-2 2xl:grid-cols-4">
        {CHARTS.map((chart) => (
          <ChartCard key={chart.title} chart={chart} history={history} />
        ))}
      </div>
      <p class="text-sm text-soft">
        All plots show the moment under the pointer. Counted since {timeText(since)}, when this process
        started; a restart begins anew.
      </p>
    </>
  );
}
