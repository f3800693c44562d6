import { useState } from "preact/hooks";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { MainLink, RowLink } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { priceText } from "../playground/models.ts";
import { Needs } from "../providers/needs.tsx";
import { type Filters, fitting, type ListedModel, needsOf, readModels, wordOf } from "./list.ts";

const STEP = 100;
const NONE: Filters = { find: "", kind: "", state: "", provider: "" };

/** Every model: whether it is on, what it needs, what it costs and where that price comes from. */
export function Screen() {
  const { find = "", kind = "", state = "", provider = "" } = query.value;
  const filters = { find, kind, state, provider };
  const { data, problem, again } = useReading("models", readModels);
  return (
    <Page
      title="Models and prices"
      actions={may("system") && <MainLink href={hrefOf("models", "~new")}>Write a model</MainLink>}
    >
      <FilterRow filters={filters} all={data ?? []} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="models" />}
      {data !== undefined && <Rows rows={fitting(data, filters)} />}
    </Page>
  );
}

function Rows({ rows }: { readonly rows: readonly ListedModel[] }) {
  const [count, setCount] = useState(STEP);
  if (rows.length === 0)
    return (
      <Empty title="No model is like that">
        <p class="mb-3">
          A model is a page of YAML: its fields, its price, and the ways to providers. What a provider offers
          and is not here yet can be written as a model of your own.
        </p>
        <Button onClick={() => setQuery({ ...NONE })}>Show all models</Button>
      </Empty>
    );
  return (
    <>
      <Table label="Models" columns={COLUMNS} rows={rows.slice(0, count)} keyOf={({ model }) => model.id} />
      {rows.length > count && (
        <div class="text-center">
          <Button onClick={() => setCount(count + STEP)}>Show more of {rows.length}</Button>
        </div>
      )}
    </>
  );
}

function FilterRow({ filters, all }: { readonly filters: Filters; readonly all: readonly ListedModel[] }) {
  const { find, kind, state, provider } = filters;
  const providers = [...new Set(all.flatMap(({ model }) => model.routes.map((route) => route.provider)))];
  const known = provider === "" || providers.includes(provider) ? providers : [provider, ...providers];
  return (
    <search class="grid grid-cols-2 gap-2 lg:max-w-4xl lg:grid-cols-4">
      <Field
        label="Name or mode"
        hidesLabel
        placeholder="Name or mode"
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
          ["on", "Ready"],
          ["trouble", "In trouble"],
          ["off", "Off"],
          ["own", "Your own"],
          ["priced", "With a price of yours"],
          ["unpriced", "With a gap in the price"],
        ]}
        onChoice={(chosen) => setQuery({ state: chosen })}
      />
      <Choice
        label="Kind"
        hidesLabel
        value={kind}
        choices={[
          ["", "Every kind"],
          ["image", "Images"],
          ["video", "Videos"],
        ]}
        onChoice={(chosen) => setQuery({ kind: chosen })}
      />
      <Choice
        label="Provider"
        hidesLabel
        value={provider}
        choices={[["", "Every provider"], ...known.toSorted().map((each) => [each, each] as const)]}
        onChoice={(chosen) => setQuery({ provider: chosen })}
      />
    </search>
  );
}

/** Where a price comes from that is not the model's own. */
const SOURCES: Readonly<Record<string, string>> = {
  settings: "of svc.yaml",
  set: "set here",
};

const COLUMNS: readonly Column<ListedModel>[] = [
  {
    title: "Model",
    cell: ({ model, model: { id, name, file } }) => (
      <span class="flex min-w-0 flex-col">
        <RowLink href={hrefOf("models", id)}>
          <bdi>{name}</bdi>
        </RowLink>
        <span class="text-soft">
          <code class="font-mono text-[0.8125rem] break-all">{id}</code>
          {file !== undefined && " · your own"}
        </span>
        <span class="tabular-nums sm:hidden">{priceText(model)}</span>
      </span>
    ),
  },
  { title: "Kind", from: "md", cell: ({ model: { kind } }) => kind },
  { title: "State", cell: ({ model }) => <State model={model} /> },
  {
    title: "Price",
    from: "sm",
    isNumber: true,
    cell: ({ model, price }) => (
      <span class="flex flex-col items-end">
        <span class="whitespace-nowrap tabular-nums">{priceText(model)}</span>
        {price !== undefined && price.source !== "built_in" && (
          <span class="text-soft">{SOURCES[price.source] ?? price.source}</span>
        )}
        {price?.unpriced != null && <Status word="has a gap" tone="warn" />}
      </span>
    ),
  },
  {
    title: "Providers",
    from: "md",
    cell: ({ model: { routes } }) => (
      <span class="block min-w-24 wrap-anywhere">
        {[...new Set(routes.map(({ provider }) => provider))].join(", ")}
      </span>
    ),
  },
];

function State({ model }: { readonly model: ListedModel["model"] }) {
  const needs = model.available ? [] : needsOf(model);
  return (
    <span class="flex min-w-0 flex-col gap-1">
      <Status {...wordOf(model)} />
      {needs.map((each, i) => (
        <span key={each.join()} class="flex flex-wrap items-baseline gap-1 text-sm text-soft">
          {i === 0 ? "needs" : "or"} <Needs needs={each} />
        </span>
      ))}
    </span>
  );
}
