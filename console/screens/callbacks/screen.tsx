import { useRef, useState } from "preact/hooks";
import { readAsFar } from "../../api/more.ts";
import { type Reading as Read, useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { say } from "../../shell/toasts.tsx";
import { StateOf } from "../callback/state.tsx";
import { clearFilters, FilterRow, filtersNow } from "./filters.tsx";
import { type Page as Callbacks, type ListedCallback, NO_FILTERS, placeOf, readCallbacks } from "./list.ts";
import { SendAgain } from "./send-again.tsx";
import { SendTest } from "./send-test.tsx";

/** New ones and new states appear within so many milliseconds, while the list is as short as it began. */
const LOOK_AGAIN_MS = 5_000;

/** What was posted at the ends of tasks, newest first. */
export function Screen({ role }: ScreenProps) {
  const filters = filtersNow(role === "operator");
  const about = JSON.stringify(filters);
  const held = useRef({ about, count: 0 });
  const reading = useReading(about, (signal) =>
    readAsFar(({ callbacks }) => callbacks.length, held.current.about === about ? held.current.count : 0, {
      read: (after) => readCallbacks(role, filters, { signal, ...(after === undefined ? {} : { after }) }),
      join: withPage,
    }),
  );
  const { data, problem, again } = reading;
  const more = useMore(reading, about, (after) => readCallbacks(role, filters, { after }));
  held.current = { about, count: more.isLonger ? (data?.callbacks.length ?? 0) : 0 };
  useEvery(more.isLonger ? undefined : LOOK_AGAIN_MS, reading);
  const [asked, setAsked] = useState<"again" | "test">();
  const close = () => setAsked(undefined);
  const isFiltered = about !== JSON.stringify(NO_FILTERS);
  const test = role === "tenant" && <Button onClick={() => setAsked("test")}>Send a test</Button>;
  return (
    <Page
      title="Callbacks"
      actions={
        <>
          {test}
          {(role === "tenant" || may("system")) && (
            <Button onClick={() => setAsked("again")}>Send many again</Button>
          )}
        </>
      }
    >
      <FilterRow filters={filters} isOperator={role === "operator"} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="callbacks" />}
      {data?.callbacks.length === 0 && data.next === null && <NoCallbacks isFiltered={isFiltered} />}
      {data !== undefined && data.callbacks.length > 0 && (
        <Table
          label="Callbacks, newest first"
          columns={role === "operator" ? OPERATORS : TENANTS}
          rows={data.callbacks}
          keyOf={({ id }) => id}
        />
      )}
      {data !== undefined && data.next !== null && (
        <div class="text-center">
          <Button isBusy={more.isReading} onClick={more.read}>
            Show more
          </Button>
        </div>
      )}
      {asked === "again" && <SendAgain role={role} filters={filters} onClose={close} onSent={more.anew} />}
      {asked === "test" && <SendTest onClose={close} />}
    </Page>
  );
}

function withPage(before: Callbacks, page: Callbacks): Callbacks {
  return { ...page, callbacks: [...before.callbacks, ...page.callbacks] };
}

/** Reads the pages that follow. */
function useMore(reading: Read<Callbacks>, about: string, read: (after: string) => Promise<Callbacks>) {
  const [isReading, setReading] = useState(false);
  /** What the list was of when it was made longer. */
  const [longer, setLonger] = useState<string>();
  const go = async () => {
    const after = reading.data?.next;
    if (after == null) return;
    setReading(true);
    // A reading of the first page that is under way would make it short again.
    setLonger(about);
    try {
      const page = await read(after);
      reading.change((before) => (before.next === after ? withPage(before, page) : before));
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    } finally {
      setReading(false);
    }
  };
  const anew = () => {
    setLonger(undefined);
    reading.again();
  };
  return { isReading, isLonger: longer === about, read: () => void go(), anew };
}

const FIRST: readonly Column<ListedCallback>[] = [
  {
    title: "To",
    cell: (callback) => {
      const place = placeOf(callback);
      return (
        <a
          data-row
          href={hrefOf("callbacks", callback.id)}
          class="inline-block min-w-24 wrap-anywhere text-accent underline-offset-2 hover:underline"
          aria-label={`${place}, of task …${callback.task_id.slice(-8)}`}
        >
          <bdi>{place}</bdi>
        </a>
      );
    },
  },
  { title: "State", cell: (callback) => <StateOf callback={callback} /> },
];
const OWNERS: readonly Column<ListedCallback>[] = [
  { title: "Account", from: "md", cell: ({ account }) => <bdi class="wrap-anywhere">{account?.name}</bdi> },
  { title: "Key", from: "lg", cell: ({ key }) => <bdi class="wrap-anywhere">{key?.name}</bdi> },
];
const LAST: readonly Column<ListedCallback>[] = [
  {
    title: "Task",
    from: "md",
    cell: ({ task_id }) => (
      <a
        href={hrefOf("tasks", task_id)}
        class="font-mono text-[0.8125rem] whitespace-nowrap text-accent underline-offset-2 hover:underline"
      >
        …{task_id.slice(-8)}
      </a>
    ),
  },
  {
    title: "Attempts",
    from: "sm",
    isNumber: true,
    cell: ({ attempts, max_attempts }) => `${attempts} of ${max_attempts}`,
  },
  { title: "Task ended", from: "sm", cell: ({ created_at }) => <Time at={created_at} /> },
];
const TENANTS = [...FIRST, ...LAST];
const OPERATORS = [...FIRST, ...OWNERS, ...LAST];

function NoCallbacks({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No callback is like that">
        <Button onClick={clearFilters}>Show all callbacks</Button>
      </Empty>
    );
  return (
    <Empty title="No callbacks yet">
      A task that is created with a <code class="font-mono">callback_url</code> reports its end there, so that
      nobody has to ask. Each send appears here with what the receiver answered, and can be sent again. To
      look at them on your own machine:{" "}
      <code class="font-mono break-all text-ink">
        svc callbacks listen --forward http://localhost:3000/hook
      </code>
    </Empty>
  );
}
