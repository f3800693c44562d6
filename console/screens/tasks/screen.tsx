import { useMore } from "../../api/more.ts";
import { useChanges, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { LongTable } from "../../parts/long-table.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import type { Column } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { query, setQuery } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { StatusOf, TaskLink, Thumbnail, tookText } from "./cells.tsx";
import {
  type Filters,
  KINDS,
  type ListedTask,
  readTasks,
  STATUSES,
  withPage,
  withTail,
  withTask,
} from "./list.ts";

/** Tasks, newest first, as they change. */
export function Screen({ role }: ScreenProps) {
  const { status = "", kind = "", model = "", account = "" } = query.value;
  const filters: Filters = { status, kind, model, account };
  const about = JSON.stringify(filters);
  const reading = useReading(about, (signal) => readTasks(role, filters, undefined, signal), withTail);
  useChanges(role === "operator" ? "GET /admin/v1/events" : "GET /v1/events", {}, reading, ({ data }) =>
    reading.change((page) => withTask(page, data, filters)),
  );
  const { data, problem } = reading;
  const more = useMore(reading, about, {
    read: (after) => readTasks(role, filters, after),
    join: withPage,
  });
  return (
    <Page title="Tasks">
      <FilterRow filters={filters} isOperator={role === "operator"} />
      {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
      {data === undefined && problem === undefined && <Reading what="tasks" />}
      {data?.tasks.length === 0 && (
        <NoTasks isFiltered={Object.values(filters).some((value) => value !== "")} role={role} />
      )}
      {data !== undefined && data.tasks.length > 0 && (
        <LongTable
          label="Tasks, newest first"
          columns={COLUMNS_FOR[role]}
          rows={data.tasks}
          keyOf={({ task_id }) => task_id}
          onEnd={more.read}
        />
      )}
      {more.problem !== undefined && <Trouble problem={more.problem} again={more.readAnyway} />}
      {more.isReading && <Reading what="more tasks" />}
    </Page>
  );
}

function FilterRow({ filters, isOperator }: { readonly filters: Filters; readonly isOperator: boolean }) {
  const named = (values: readonly string[], all: string) => [
    ["", all] as const,
    ...values.map((value) => [value, value] as const),
  ];
  return (
    <search class="grid grid-cols-2 gap-2 sm:grid-cols-4 lg:max-w-3xl">
      <Choice
        label="Status"
        hidesLabel
        value={filters.status}
        choices={named(STATUSES, "Every status")}
        onChoice={(status) => setQuery({ status })}
      />
      <Choice
        label="Kind"
        hidesLabel
        value={filters.kind}
        choices={named(KINDS, "Every kind")}
        onChoice={(kind) => setQuery({ kind })}
      />
      <Field
        label="Model"
        hidesLabel
        placeholder="Model"
        isFilter
        value={filters.model}
        onDone={(model) => setQuery({ model: model.trim() })}
      />
      {isOperator && (
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

const COLUMNS: readonly Column<ListedTask>[] = [
  { title: "Result", width: "w-15 sm:w-17", cell: (task) => <Thumbnail task={task} /> },
  { title: "Task", width: "w-24 sm:w-26", cell: (task) => <TaskLink task={task} /> },
  { title: "Status", width: "sm:w-36", cell: (task) => <StatusOf task={task} /> },
  { title: "Model", from: "sm", isLong: true, cell: ({ model }) => model },
];
const OPERATORS: readonly Column<ListedTask>[] = [
  { title: "Account", from: "xl", isLong: true, cell: ({ account }) => account?.name },
  { title: "Key", from: "xl", isLong: true, cell: ({ key }) => key?.name },
  { title: "Provider", from: "xl", width: "w-28", isLong: true, cell: ({ provider }) => provider },
];
const MEASURES: readonly Column<ListedTask>[] = [
  { title: "Made", from: "md", width: "w-28", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Took", from: "md", width: "w-20", isNumber: true, isLong: true, cell: tookText },
  {
    title: "Cost",
    from: "xs",
    width: "w-18 sm:w-22",
    isNumber: true,
    cell: ({ usage }) => (usage === undefined ? <Money amount={undefined} /> : moneyText(usage.cost)),
  },
];

// Made once: a table draws its rows anew for other columns.
const COLUMNS_FOR: { readonly [Name in ScreenProps["role"]]: readonly Column<ListedTask>[] } = {
  tenant: [...COLUMNS, ...MEASURES],
  operator: [...COLUMNS, ...OPERATORS, ...MEASURES],
};

function NoTasks({ isFiltered, role }: { readonly isFiltered: boolean; readonly role: ScreenProps["role"] }) {
  if (isFiltered)
    return (
      <Empty title="No task is like that">
        <Button onClick={() => setQuery({ status: "", kind: "", model: "", account: "" })}>
          Show all tasks
        </Button>
      </Empty>
    );
  return (
    <Empty title="No tasks yet">
      Every image or video that somebody asks for is a task. It appears here as it is asked for, and changes
      while it is made. The first one:{" "}
      <code class="font-mono break-all text-ink">svc image "a lighthouse at dusk"</code>
      {role === "operator" && ", or in the playground, which is there for who signs in with an API key."}
    </Empty>
  );
}
