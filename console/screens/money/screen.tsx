import { useReading } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { query } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { Balances } from "./balances.tsx";
import { Breakdown } from "./breakdown.tsx";
import { type Asked, type Figures, GROUPS, type Group, readFigures } from "./figures.ts";
import { Filters } from "./filters.tsx";
import { OverTime } from "./over-time.tsx";
import { Quotas } from "./quotas.tsx";
import { Totals } from "./totals.tsx";

/** What tasks came to: over time and by what, and what is left of balances and quotas. */
export function Screen({ role }: ScreenProps) {
  const asked = askedFor(role, query.value);
  const { data, problem, isReading, again } = useReading(`${role} ${JSON.stringify(asked)}`, (signal) =>
    readFigures(role, asked, signal),
  );
  return (
    <Page title="Money">
      <Filters role={role} asked={asked} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="what tasks came to" />}
      {data !== undefined && (
        <div class="flex min-w-0 flex-col gap-6" aria-busy={isReading}>
          <Parts role={role} asked={asked} figures={data} />
        </div>
      )}
      {role === "operator" && (
        <>
          <Quotas account={asked.account} />
          <Balances />
        </>
      )}
    </Page>
  );
}

function Parts({
  role,
  asked,
  figures,
}: {
  readonly role: ScreenProps["role"];
  readonly asked: Asked;
  readonly figures: Figures;
}) {
  const { completed, failed, cancelled } = figures.total;
  if (completed + failed + cancelled === 0)
    return (
      <Empty title="No task ended in these days">
        Here is what tasks came to, by day and by what you choose above. A task counts on the day of its end,
        in UTC; failed and cancelled ones cost nothing.
      </Empty>
    );
  return (
    <>
      <Totals role={role} total={figures.total} />
      <OverTime role={role} figures={figures} />
      <Breakdown role={role} by={asked.by} figures={figures} />
    </>
  );
}

function askedFor(role: ScreenProps["role"], filters: Readonly<Record<string, string>>): Asked {
  const groups: readonly Group[] = GROUPS[role];
  const { by, days = "31", since = "", until = "", account = "" } = filters;
  const isOwn = since !== "" || until !== "";
  return {
    by: groups.find((group) => group === by) ?? "model",
    days: isOwn ? "" : /^[1-9]\d{0,3}$/.test(days) ? days : "31",
    since,
    until,
    account: role === "operator" ? account : "",
  };
}
