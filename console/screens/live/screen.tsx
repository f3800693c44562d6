import { useRef, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { Changes } from "./changes.tsx";
import { ConnectionLine } from "./connection-line.tsx";
import { Counters } from "./counters.tsx";
import type { Filters, View } from "./feed.ts";
import { Lanes } from "./lanes.tsx";
import { nowSec, useFeed } from "./use-feed.ts";

/** How often operators' figures of the whole service are read: milliseconds. The service counts them anew each second. */
const OVERVIEW_MS = 2_000;

type Role = ScreenProps["role"];

/** Tasks in the moment that they change. */
export function Screen({ role }: ScreenProps) {
  const { model = "", account = "" } = query.value;
  const filters: Filters = { model, account: role === "operator" ? account : "" };
  const [turn, setTurn] = useState(0);
  const about = `${JSON.stringify(filters)} ${turn}`;
  // Whoever chooses other tasks wants to see them: the pause was of those before.
  const [paused, setPaused] = useState<string>();
  const isPaused = paused === about;
  return (
    <Page
      title="Live"
      actions={
        <Button onClick={() => setPaused(isPaused ? undefined : about)}>
          {isPaused ? "Go on" : "Pause"}
        </Button>
      }
    >
      <FilterRow role={role} filters={filters} />
      <Watch key={about} role={role} filters={filters} isPaused={isPaused} onAnew={() => setTurn(turn + 1)} />
    </Page>
  );
}

interface WatchProps {
  readonly role: Role;
  readonly filters: Filters;
  readonly isPaused: boolean;
  /** Begins anew, where the stream was refused. */
  readonly onAnew: () => void;
}

function Watch({ role, filters, isPaused, onAnew }: WatchProps) {
  const { view: now, stream, ...live } = useFeed(role, filters);
  const view = useFrozen(now, isPaused && live.isRead);
  const overview = useReading("overview", async (signal) =>
    role === "operator" ? ask("GET /admin/v1/overview", {}, { signal }) : undefined,
  );
  useEvery(role === "operator" && !isPaused ? OVERVIEW_MS : undefined, overview);
  const [since] = useState(() => clock.format(nowSec() * 1_000));
  const isFiltered = filters.model !== "" || filters.account !== "";
  return (
    <>
      <ConnectionLine
        stream={stream}
        turnedAt={live.turnedAt}
        isPaused={isPaused}
        waiting={now.changes - view.changes}
      />
      {stream.kind === "refused" && <Trouble problem={stream.problem} again={onAnew} />}
      {live.problem !== undefined && <Trouble problem={live.problem} again={live.again} />}
      {!live.isRead && live.problem === undefined && <Reading what="what is under way" />}
      {live.isRead && (
        <>
          <Counters view={view} since={since} overview={isFiltered ? undefined : overview.data} />
          <div class={role === "operator" ? WITH_LANES : ""}>
            {role === "operator" && <Service overview={overview} />}
            <div class="min-w-0 xl:col-start-1 xl:row-start-1">
              <Tasks role={role} view={view} isFiltered={isFiltered} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

/** On narrow screens lanes are above the changes, which have no end. */
const WITH_LANES =
  "grid min-w-0 grid-cols-1 items-start gap-6 xl:grid-cols-[minmax(0,1fr)_17rem] 2xl:grid-cols-[minmax(0,1fr)_20rem]";
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** As it was when the pause began. */
function useFrozen(view: View, isPaused: boolean): View {
  const kept = useRef(view);
  if (!isPaused) kept.current = view;
  return kept.current;
}

function Service({
  overview: { data, problem, again },
}: {
  readonly overview: ReturnType<typeof useReading<Parameters<typeof Lanes>[0]["overview"] | undefined>>;
}) {
  if (data !== undefined) return <Lanes overview={data} />;
  return problem === undefined ? <Reading what="lanes" /> : <Trouble problem={problem} again={again} />;
}

function Tasks({
  role,
  view: { rows },
  isFiltered,
}: {
  readonly role: Role;
  readonly view: View;
  readonly isFiltered: boolean;
}) {
  if (rows.length > 0) return <Changes role={role} rows={rows} />;
  if (isFiltered)
    return (
      <Empty title="No task is like that yet">
        <p class="mb-3">One that is appears here in the moment it is asked for.</p>
        <Button onClick={() => setQuery({ model: "", account: "" })}>Watch all tasks</Button>
      </Empty>
    );
  return (
    <Empty title="Nothing happens yet">
      Leave this page open: every task appears in the moment it is asked for, moves while it is made, and
      shows its result when it is done. Begin one{" "}
      {role === "tenant" && (
        <>
          in the <Link href={hrefOf("playground")}>playground</Link>, or{" "}
        </>
      )}
      from a terminal: <code class="font-mono break-all text-ink">svc image "a lighthouse at dusk"</code>
    </Empty>
  );
}

function FilterRow({ role, filters }: { readonly role: Role; readonly filters: Filters }) {
  return (
    <search class="grid grid-cols-2 gap-2 lg:max-w-xl">
      <Field
        label="Model"
        hidesLabel
        placeholder="Model"
        isFilter
        value={filters.model}
        onDone={(model) => setQuery({ model: model.trim() })}
      />
      {role === "operator" && (
        <Field
          label="Account"
          hidesLabel
          placeholder="Account"
          value={filters.account}
          onDone={(account) => setQuery({ account: account.trim() })}
        />
      )}
    </search>
  );
}
