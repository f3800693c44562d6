import { useEffect, useState } from "preact/hooks";
import { type More, useMore } from "../../api/more.ts";
import { type Reading as Read, useChanges, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { query } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import type { ListedTask } from "../tasks/list.ts";
import { clearFilters, FilterRow, filtersNow, NO_FILTERS } from "./filters.tsx";
import { Grid } from "./grid.tsx";
import { type Filters, type Found, fits, readResults, withMore, withTail, withTask } from "./list.ts";
import { Tile } from "./tile.tsx";
import { Viewer } from "./viewer.tsx";

/** All that was made, newest first, with a viewer. */
export function Screen({ role }: ScreenProps) {
  const filters = filtersNow();
  const about = JSON.stringify(filters);
  const reading = useReading(about, (signal) => readResults(role, filters, undefined, signal), withTail);
  const { data, problem } = reading;
  const more = useMore(reading, about, {
    read: (after) => readResults(role, filters, after),
    join: withMore,
    isBarren: ({ items }) => items.length === 0,
  });
  const fresh = useFresh(role, filters, reading);
  const view = query.value.view ?? "";
  return (
    <Page title="Gallery">
      <FilterRow filters={filters} isOperator={role === "operator"} />
      {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
      {data === undefined && problem === undefined && <Reading what="the gallery" />}
      {fresh.count > 0 && (
        <div class="sticky top-16 z-10 text-center lg:top-4">
          <Button look="main" onClick={fresh.show}>
            Show {fresh.text} new
          </Button>
        </div>
      )}
      {data !== undefined && data.items.length > 0 && (
        <Grid
          label="Results, newest first"
          count={data.items.length}
          keyOf={(index) => data.items[index]?.id ?? ""}
          tile={(index) => {
            const item = data.items[index];
            return item === undefined ? null : <Tile item={item} />;
          }}
          onEnd={more.read}
        />
      )}
      {data !== undefined && (
        <End found={data} more={more} isFiltered={about !== JSON.stringify(NO_FILTERS)} />
      )}
      {view !== "" && (
        <Viewer
          role={role}
          id={view}
          items={data?.items ?? []}
          onEnd={more.read}
          onDeleted={(task) =>
            reading.change((found) => ({
              ...found,
              items: found.items.filter((item) => item.task !== task),
            }))
          }
        />
      )}
    </Page>
  );
}

/** Far enough down that new results would move what the reader looks at, in pixels. */
const SCROLLED = 200;

/** As many as wait one by one: of more, the gallery is read anew. */
const MOST_WAITING = 500;

/** Takes what changes into the gallery; new results wait while the reader is further down. */
function useFresh(role: ScreenProps["role"], filters: Filters, reading: Read<Found>) {
  const { data, isReading, change, again } = reading;
  const [waiting, setWaiting] = useState<readonly ListedTask[]>([]);
  const stream = role === "operator" ? "GET /admin/v1/events" : "GET /v1/events";
  useChanges(stream, {}, reading, ({ data: told }) => {
    const task: ListedTask = told;
    const isKnown = data?.items.some((item) => item.task === task.task_id) === true;
    const isNew = !isKnown && filters.q === "" && fits(task, filters);
    if (isKnown || (isNew && scrollY <= SCROLLED)) return change((found) => withTask(found, task, filters));
    setWaiting((before) => {
      const others = before.filter(({ task_id }) => task_id !== task.task_id);
      if (isNew) return [...others, task].slice(-MOST_WAITING - 1);
      return others.length < before.length ? others : before;
    });
  });
  // What waits is in what is read now.
  useEffect(() => {
    if (isReading) setWaiting([]);
  }, [isReading]);
  const fitting = waiting.filter((task) => fits(task, filters));
  const isMany = fitting.length > MOST_WAITING;
  return {
    count: filters.q === "" ? fitting.length : 0,
    text: isMany ? `more than ${MOST_WAITING}` : String(fitting.length),
    show: () => {
      setWaiting([]);
      if (isMany) again();
      else change((found) => fitting.reduce((sum, task) => withTask(sum, task, filters), found));
      scrollTo({ top: 0 });
    },
  };
}

/** What comes after the last tile: more, nothing, or why there is none. */
function End({
  found,
  more,
  isFiltered,
}: {
  readonly found: Found;
  readonly more: More;
  readonly isFiltered: boolean;
}) {
  if (more.problem !== undefined) return <Trouble problem={more.problem} again={more.readAnyway} />;
  if (found.next !== null)
    return (
      <div role="status" class="flex flex-wrap items-center justify-center gap-3 text-soft">
        {more.isReading ? (
          "Looking further…"
        ) : (
          <>
            {found.lookedTo !== undefined && (
              <span>
                Looked through tasks back to <Time at={found.lookedTo} />.
              </span>
            )}
            <Button onClick={more.readAnyway}>Look further</Button>
          </>
        )}
      </div>
    );
  if (found.items.length > 0) return null;
  if (isFiltered)
    return (
      <Empty title="No result is like that">
        <Button onClick={clearFilters}>Show all results</Button>
      </Empty>
    );
  return (
    <Empty title="Nothing was made yet">
      Every image and video of a task appears here, newest first, as soon as it is done. The first one:{" "}
      <code class="font-mono break-all text-ink">svc image "a lighthouse at dusk"</code>
    </Empty>
  );
}
