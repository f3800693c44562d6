import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { RowLink } from "../../parts/link.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { type Filters, fitting, type ListedProvider, type Providers, readProviders, wordOf } from "./list.ts";
import { Needs } from "./needs.tsx";
import { Problems } from "./problems.tsx";

const LOOK_AGAIN_MS = 10_000;

/** Every provider: how those do that are switched on, and what switches the others on. */
export function Screen() {
  const { find = "", state = "" } = query.value;
  const reading = useReading("providers", readProviders);
  const { data, problem, again } = reading;
  useEvery(LOOK_AGAIN_MS, reading);
  return (
    <Page title="Providers">
      <FilterRow filters={{ find, state }} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="providers" />}
      {data !== undefined && <Lists data={data} filters={{ find, state }} />}
    </Page>
  );
}

function FilterRow({ filters: { find, state } }: { readonly filters: Filters }) {
  return (
    <search class="grid grid-cols-2 gap-2 sm:max-w-xl">
      <Field
        label="Name or variable"
        hidesLabel
        placeholder="Name or variable"
        type="search"
        isFilter
        value={find}
        onText={(text) => setQuery({ find: text })}
      />
      <Choice
        label="State"
        hidesLabel
        value={state}
        choices={[
          ["", "Every state"],
          ["on", "On"],
          ["trouble", "On, in trouble"],
          ["off", "Off"],
        ]}
        onChoice={(chosen) => setQuery({ state: chosen })}
      />
    </search>
  );
}

function Lists({ data, filters }: { readonly data: Providers; readonly filters: Filters }) {
  const shown = fitting(data.providers, filters);
  const on = shown.filter(({ provider }) => provider.available);
  const off = shown.filter(({ provider }) => !provider.available);
  const isNoneOn = data.providers.every(({ provider }) => !provider.available);
  const keyOf = ({ provider }: ListedProvider) => provider.id;
  return (
    <>
      <Problems problems={data.problems} />
      {shown.length === 0 && (
        <Empty title="No provider is like that">
          <Button onClick={() => setQuery({ find: "", state: "" })}>Show all providers</Button>
        </Empty>
      )}
      {isNoneOn && (
        <Empty title="No provider is switched on">
          Providers make the images and videos. Open one below and add its key: it is kept sealed in the data
          folder. Or set its variable where the server starts. The sandbox needs no key; it is there unless
          the server starts with <code class="font-mono text-ink">--no-sandbox</code>.
        </Empty>
      )}
      {on.length > 0 && (
        <Section title="Switched on">
          <Table label="Providers that are switched on" columns={ON} rows={on} keyOf={keyOf} />
        </Section>
      )}
      {off.length > 0 && (
        <Section title="Off">
          <Table label="Providers that are off" columns={OFF} rows={off} keyOf={keyOf} />
        </Section>
      )}
    </>
  );
}

const NAME: Column<ListedProvider> = {
  title: "Provider",
  cell: ({ provider: { id, title } }) => (
    <span class="flex min-w-0 flex-col">
      <RowLink href={hrefOf("providers", id)}>{title}</RowLink>
      {id !== title && <code class="font-mono text-[0.8125rem] text-soft">{id}</code>}
    </span>
  ),
};

const MODELS: Column<ListedProvider> = {
  title: "Models",
  isNumber: true,
  from: "md",
  cell: ({ provider: { models } }) => <span class="tabular-nums">{models.length}</span>,
};

const ON: readonly Column<ListedProvider>[] = [
  NAME,
  { title: "State", cell: (each) => <Status {...wordOf(each)} /> },
  {
    title: "Accounts",
    from: "sm",
    cell: ({ provider: { accounts } }) => (
      <span class="block min-w-24 wrap-anywhere">{accounts.map(({ name }) => name).join(", ")}</span>
    ),
  },
  {
    title: "Under way",
    isNumber: true,
    cell: ({ underWay, limit }) => (
      <span class="tabular-nums">
        {underWay} of {limit}
      </span>
    ),
  },
  {
    title: "Done, last hour",
    isNumber: true,
    from: "sm",
    cell: ({ completed }) => <span class="tabular-nums">{completed}</span>,
  },
  {
    title: "Failed",
    isNumber: true,
    from: "sm",
    cell: ({ failed }) => <span class={`tabular-nums ${failed > 0 ? "text-bad" : ""}`}>{failed}</span>,
  },
  MODELS,
];

const OFF: readonly Column<ListedProvider>[] = [
  NAME,
  { title: "It needs", cell: ({ provider: { needs } }) => <Needs needs={needs} /> },
  MODELS,
];
