import { durationText } from "../../parts/duration.ts";
import { Empty } from "../../parts/empty.tsx";
import { Link } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { WayState } from "../../parts/way-state.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { type Asked, isShut, type ProviderInFull, type Way } from "./read.ts";

interface Props {
  readonly provider: ProviderInFull;
  readonly ways: readonly Way[];
  readonly onAsk: (asked: Asked) => void;
}

/** What each account does for each model: its state, its times, what it spent. Of a provider that is off, the models alone. */
export function Ways({ provider, ways, onAsk }: Props) {
  if (provider.routes.length === 0)
    return (
      <Empty title="No model takes it">
        A model of your own can have a route to it:{" "}
        <Link href={hrefOf("models", "~new", { provider: provider.id })}>write one</Link>.
      </Empty>
    );
  if (ways.length === 0)
    return (
      <Table
        label="Models with a route to it"
        columns={ROUTES}
        rows={provider.routes}
        keyOf={({ model, upstream_model: name }) => `${model} ${name}`}
      />
    );
  const isAlone = provider.accounts.length === 1;
  const columns = [...(isAlone ? [] : [ACCOUNT]), ...COLUMNS];
  return (
    <Table
      label="Ways of its models"
      columns={may("system") ? [...columns, actionColumn(ways, onAsk)] : columns}
      rows={ways}
      keyOf={({ lane, upstream_model: name }) => `${lane} ${name}`}
    />
  );
}

const ROUTES: readonly Column<ProviderInFull["routes"][number]>[] = [
  { title: "Model", cell: ({ model }) => <Link href={hrefOf("models", model)}>{model}</Link> },
  {
    title: "There it is called",
    cell: ({ upstream_model: name }) => <code class="font-mono text-[0.8125rem] break-all">{name}</code>,
  },
];

const ACCOUNT: Column<Way> = { title: "Account", cell: ({ account }) => account };

const COLUMNS: readonly Column<Way>[] = [
  {
    title: "Model",
    cell: ({ models, upstream_model: name }) => (
      <span class="flex min-w-32 flex-col">
        {models.map((model) => (
          <Link key={model} href={hrefOf("models", model)}>
            {model}
          </Link>
        ))}
        <code class="font-mono text-[0.8125rem] break-all text-soft">{name}</code>
      </span>
    ),
  },
  { title: "State", cell: (way) => <WayState standing={way} /> },
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
  {
    title: "p50",
    isNumber: true,
    from: "md",
    cell: ({ p50_ms: ms }) => <Duration ms={ms} />,
  },
  {
    title: "p95",
    isNumber: true,
    from: "md",
    cell: ({ p95_ms: ms }) => <Duration ms={ms} />,
  },
  {
    title: "A minute",
    isNumber: true,
    from: "lg",
    cell: ({ per_minute: rate }) => <span class="tabular-nums">{rate ?? "any"}</span>,
  },
  {
    title: "Spent today",
    isNumber: true,
    from: "lg",
    cell: ({ spent_today: spent }) => <Money amount={spent} />,
  },
];

function Duration({ ms }: { readonly ms: number | undefined }) {
  if (ms === undefined) return <span class="text-soft">–</span>;
  return <span class="whitespace-nowrap tabular-nums">{durationText(ms)}</span>;
}

function actionColumn(ways: readonly Way[], onAsk: Props["onAsk"]): Column<Way> {
  return {
    title: "Tasks",
    cell: ({ provider, account, lane, upstream_model, state }) => {
      const what = state === "closed" ? "block" : "allow";
      if (what === "allow" && isShut(ways.filter((way) => way.lane === lane))) return "";
      return (
        <button
          type="button"
          class="min-h-6 text-accent underline-offset-2 hover:underline"
          aria-label={`${what === "block" ? "Block" : "Allow"} ${upstream_model} at ${account}`}
          onClick={() => onAsk({ do: what, target: { provider, account, upstream_model } })}
        >
          {what === "block" ? "Block" : "Allow"}
        </button>
      );
    },
  };
}
