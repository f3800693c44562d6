import type { Schemas } from "../../api/published.d.ts";
import { countText } from "../../parts/count.ts";
import { Link } from "../../parts/link.tsx";
import { Section } from "../../parts/page.tsx";
import { Status, type Tone } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { hrefOf } from "../../shell/router.ts";
import { sortedRoutes } from "./series.ts";

type Route = Schemas["History"]["routes"][number];

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** From these shares of failed attempts on, a route needs a look, or is of no use. */
const SOME = 0.05;
const MANY = 0.5;

/** How attempts at each provider's models ended, those that fail most first. */
export function Routes({ routes }: { readonly routes: readonly Route[] }) {
  return (
    <Section title="Errors by route">
      {routes.length === 0 ? (
        <p class="text-soft">
          No attempt ended since the start. Here is, of each account at a provider and each of its models, how
          many attempts failed.
        </p>
      ) : (
        <>
          <Table
            label="Errors by route, those that fail most first"
            columns={COLUMNS}
            rows={sortedRoutes(routes)}
            keyOf={({ provider, upstream_model }) => `${provider} ${upstream_model}`}
          />
          <p class="text-sm text-soft">
            An attempt that fails may be taken by another route, so that its task completes.{" "}
            <Link href={hrefOf("tasks", "", { status: "failed" })}>Tasks that failed</Link>
          </p>
        </>
      )}
    </Section>
  );
}

function Share({ ends: { error_rate } }: { readonly ends: Route["hour"] }) {
  if (error_rate === null) return <span class="text-soft">–</span>;
  const tone: Tone = error_rate >= MANY ? "bad" : error_rate >= SOME ? "warn" : "good";
  return <Status word={percent.format(error_rate)} tone={tone} />;
}

const ofAll = ({ completed, failed }: Route["hour"]) =>
  `${countText(failed)} of ${countText(completed + failed)}`;

const COLUMNS: readonly Column<Route>[] = [
  {
    title: "Route",
    cell: ({ provider, upstream_model }) => (
      <span class="flex min-w-24 flex-col">
        <bdi class="wrap-anywhere">{upstream_model}</bdi>
        <bdi class="text-soft wrap-anywhere">{provider}</bdi>
      </span>
    ),
  },
  { title: "Failed, hour", isNumber: true, from: "sm", cell: ({ hour }) => ofAll(hour) },
  { title: "Share, hour", isNumber: true, cell: ({ hour }) => <Share ends={hour} /> },
  { title: "Failed, day", isNumber: true, from: "sm", cell: ({ day }) => ofAll(day) },
  { title: "Share, day", isNumber: true, cell: ({ day }) => <Share ends={day} /> },
];
