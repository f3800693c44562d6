import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { readDocument, valuesOf } from "../../api/document.ts";
import type { Operations, Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { say } from "../../shell/toasts.tsx";
import { dayOrNone } from "../money/figures.ts";
import { Difference } from "./difference.tsx";

const PATH = "/admin/v1/audit-log";
type Entry = Schemas["TrailEntry"];
type Action = Operations["GET /admin/v1/audit-log"]["query"]["action"];

/** Which entries are shown; the address has the same names. */
interface Filters {
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly since: string;
  readonly until: string;
}

/** Who changed what: the trail that nothing changes or removes. */
export function Screen() {
  const { actor = "", action = "", object = "", since = "", until = "" } = query.value;
  const filters: Filters = { actor, action, object, since, until };
  const reading = useReading(JSON.stringify(filters), (signal) => readEntries(filters, undefined, signal));
  const { data, problem, again } = reading;
  const [isReadingMore, setReadingMore] = useState(false);
  const more = async (after: string) => {
    setReadingMore(true);
    try {
      const page = await readEntries(filters, after);
      reading.change((before) => ({ ...page, entries: [...before.entries, ...page.entries] }));
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    } finally {
      setReadingMore(false);
    }
  };
  const next = data?.next ?? null;
  return (
    <Page title="Changes">
      <FilterRow filters={filters} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="changes" />}
      {data?.entries.length === 0 && (
        <NoEntries isFiltered={Object.values(filters).some((value) => value !== "")} />
      )}
      {data !== undefined && data.entries.length > 0 && <Entries entries={data.entries} />}
      {next !== null && (
        <div class="text-center">
          <Button isBusy={isReadingMore} onClick={() => void more(next)}>
            Show more
          </Button>
        </div>
      )}
    </Page>
  );
}

function readEntries({ action, ...filters }: Filters, after?: string, signal?: AbortSignal) {
  // What is no action is refused by the service, which says which ones there are.
  const wanted = action as Action;
  const given = {
    ...(wanted === undefined || action === "" ? {} : { action: wanted }),
    ...(after === undefined ? {} : { after }),
  };
  return ask(`GET ${PATH}`, { query: { ...filters, limit: 50, ...given } }, { signal });
}

function FilterRow({ filters }: { readonly filters: Filters }) {
  const { data: actions = [] } = useReading("actions", async () =>
    valuesOf(await readDocument(), PATH, "action"),
  );
  const all =
    actions.includes(filters.action) || filters.action === "" ? actions : [filters.action, ...actions];
  return (
    <search class="grid grid-cols-2 gap-2 md:grid-cols-3 lg:max-w-6xl lg:grid-cols-5">
      <Field
        label="Who"
        placeholder="token, local, file, system"
        isFilter
        value={filters.actor}
        onDone={(actor) => setQuery({ actor: actor.trim() })}
      />
      <Choice
        label="What"
        value={filters.action}
        choices={[["", "Every change"], ...all.map((each) => [each, each] as const)]}
        onChoice={(action) => setQuery({ action })}
      />
      <Field
        label="Of"
        placeholder="id or name"
        value={filters.object}
        onDone={(object) => setQuery({ object: object.trim() })}
      />
      <Field
        label="From"
        type="date"
        value={dayOrNone(filters.since)}
        onDone={(since) => setQuery({ since })}
      />
      <Field
        label="Before"
        type="date"
        value={dayOrNone(filters.until)}
        onDone={(until) => setQuery({ until })}
      />
    </search>
  );
}

function Entries({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <ol
      aria-label="Changes, newest first"
      class="flex flex-col rounded-xl border border-line bg-card text-sm"
    >
      {entries.map(({ number, at, actor, action, object, before, after }) => (
        <li
          key={number}
          class="grid grid-cols-1 gap-x-6 gap-y-1 border-b border-line px-4 py-3 wrap-anywhere last:border-0 md:grid-cols-[12rem_16rem_minmax(0,1fr)]"
        >
          <p class="flex min-w-0 flex-wrap gap-x-2 md:flex-col">
            <span>
              <bdi>{actor.name ?? actor.kind}</bdi>
              {actor.name !== null && <span class="text-soft"> · {actor.kind}</span>}
            </span>
            <span class="text-soft">
              <Time at={at} />
            </span>
          </p>
          <p class="flex min-w-0 flex-wrap gap-x-2 md:flex-col">
            <span class="font-medium whitespace-nowrap">{action}</span>
            <Of object={object} />
          </p>
          <Difference before={before} after={after} />
        </li>
      ))}
    </ol>
  );
}

/** Where what was changed is shown. */
const PLACES: Readonly<Record<string, string>> = {
  ...{ account: "accounts", key: "keys", task: "tasks", model: "models" },
  ...{ provider: "providers", route: "providers" },
};

function Of({ object: { kind, id, name } }: { readonly object: Entry["object"] }) {
  const place = PLACES[kind];
  const text = <bdi>{name ?? id}</bdi>;
  if (place === undefined) return text;
  // Ways and accounts of a provider are on its screen: `fal/second:flux-dev` on that of fal.
  const item = place === "providers" ? (id.split(/[/:]/)[0] ?? "") : id;
  return <Link href={hrefOf(place, item)}>{text}</Link>;
}

function NoEntries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No change is like that">
        <Button onClick={() => setQuery({ actor: "", action: "", object: "", since: "", until: "" })}>
          Show all changes
        </Button>
      </Empty>
    );
  return (
    <Empty title="Nothing has been changed yet">
      Who makes, changes or revokes keys, accounts, tokens and prices, moves money or acts on tasks and routes
      is written here, with what was before and what is since. Nothing removes an entry.
    </Empty>
  );
}
