import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { counted, countText } from "../../parts/count.ts";
import { durationText } from "../../parts/duration.ts";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { moneyText } from "../../parts/money.tsx";
import { Reading, Section } from "../../parts/page.tsx";
import { sizeText } from "../../parts/size.ts";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";

type Overview = Schemas["Overview"];
type Lane = Overview["lanes"][number];

const READ_MS = 5_000;

/** How the service does now. It is counted in memory, so that asking often costs it nothing. */
export function Present() {
  const reading = useReading("overview", (signal) => ask("GET /admin/v1/overview", {}, { signal }));
  useEvery(READ_MS, reading);
  const { data, problem, again } = reading;
  return (
    <>
      <Section title="At present">
        {problem !== undefined && <Trouble problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Reading what="how the service does" />}
        {data !== undefined && <Figures overview={data} />}
      </Section>
      {data !== undefined && <Queue lanes={data.lanes} />}
    </>
  );
}

const rateFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

function Figures({ overview }: { readonly overview: Overview }) {
  const { server, requests, creates, tasks, callbacks, memory, loop, disk, open, spend } = overview;
  return (
    <>
      <dl class="grid grid-cols-2 gap-3 md:grid-cols-4">
        <Figure name="Requests a second" more={`${rateFormat.format(requests.by_class["5xx"])} of them 5xx`}>
          {rateFormat.format(requests.per_second)}
        </Figure>
        <Figure name="New tasks a second" more={`${moneyText(spend.hour)} in the last hour`}>
          {rateFormat.format(creates.per_second)}
        </Figure>
        <Figure
          name="Tasks under way"
          more={`${countText(tasks.queued)} wait; at most ${countText(tasks.limit)} at once`}
        >
          {countText(tasks.under_way)}
        </Figure>
        <Figure name="Callbacks owed" more={ageText(callbacks.oldest_seconds)}>
          {countText(callbacks.owed)}
        </Figure>
        <Figure name="Lateness of the event loop" more="at most, in the last ten seconds">
          {durationText(loop.lag_max_ms)}
        </Figure>
        <Figure name="Memory" more={`of it objects ${sizeText(memory.heap_bytes)}`}>
          {sizeText(memory.rss_bytes)}
        </Figure>
        <Figure name="Database" more={`${sizeText(disk.wal_bytes)} in its write-ahead log`}>
          {sizeText(disk.data_bytes)}
        </Figure>
        <Figure name="Left on the disk" more="of the data folder">
          {sizeText(disk.free_bytes)}
        </Figure>
      </dl>
      <p class="text-sm text-soft">
        Version {server.version} on <bdi class="wrap-anywhere">{server.node}</bdi>, started{" "}
        <Time at={server.started_at} />. {counted(open.waits, "call")} waiting for an answer,{" "}
        {counted(open.streams, "stream")} open.
      </p>
    </>
  );
}

function ageText(seconds: number | null): string {
  return seconds === null ? "none waits" : `the oldest for ${durationText(seconds * 1_000)}`;
}

function Queue({ lanes }: { readonly lanes: readonly Lane[] }) {
  return (
    <Section title="Queue by lane">
      {lanes.length === 0 ? (
        <p class="text-soft">
          No account at a provider is switched on, so no task can be made. Each account has a lane: a queue
          and a limit of its own.
        </p>
      ) : (
        <Table
          label="Queue by lane, those with the most waiting first"
          columns={COLUMNS}
          rows={[...lanes].sort((one, other) => other.queued - one.queued)}
          keyOf={({ lane }) => lane}
        />
      )}
      <p class="text-sm text-soft">
        A lane is the queue of one account at a provider.{" "}
        <Link href={hrefOf("tasks", "", { status: "pending" })}>Tasks that wait</Link>
      </p>
    </Section>
  );
}

const COLUMNS: readonly Column<Lane>[] = [
  { title: "Lane", cell: ({ lane }) => <bdi class="wrap-anywhere">{lane}</bdi> },
  { title: "Waiting", isNumber: true, cell: ({ queued }) => countText(queued) },
  {
    title: "Oldest waits",
    from: "sm",
    isNumber: true,
    cell: ({ oldest_seconds: seconds }) => (seconds === null ? "–" : durationText(seconds * 1_000)),
  },
  {
    title: "Under way",
    isNumber: true,
    cell: ({ under_way, limit }) =>
      limit === null ? (
        <span class="text-soft">{countText(under_way)}; switched off</span>
      ) : (
        `${countText(under_way)} of ${countText(limit)}`
      ),
  },
];
