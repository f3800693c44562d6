import { Link } from "../../parts/link.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { WayState } from "../../parts/way-state.tsx";
import { hrefOf } from "../../shell/router.ts";
import { Needs } from "../providers/needs.tsx";
import type { Route } from "./read.ts";

/** The ways to make a model, in the order of its manifest, with what is in the way of each. */
export function Routes({ routes }: { readonly routes: readonly Route[] }) {
  return (
    <Table
      label="Ways to make it, in their order"
      columns={COLUMNS}
      rows={routes.map((route, i) => ({ route, key: String(i) }))}
      keyOf={({ key }) => key}
    />
  );
}

interface Row {
  readonly route: Route;
  readonly key: string;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: "Provider",
    cell: ({ route: { provider, upstream_model: name } }) => (
      <span class="flex min-w-24 flex-col">
        <Link href={hrefOf("providers", provider)}>{provider}</Link>
        <code class="font-mono text-[0.8125rem] break-all text-soft">{name}</code>
      </span>
    ),
  },
  { title: "State", cell: ({ route }) => <State route={route} /> },
  {
    title: "What it can do",
    from: "sm",
    cell: ({ route }) => <Limits route={route} />,
  },
];

function State({ route: { available, needs, troubles = [] } }: { readonly route: Route }) {
  if (!available)
    return (
      <span class="flex flex-wrap items-baseline gap-x-2">
        <Status word="off" />
        <span class="text-sm text-soft">needs</span>
        <Needs needs={needs} />
      </span>
    );
  if (troubles.length === 0) return <Status word="ready" tone="good" />;
  return (
    <ul class="flex flex-col gap-2">
      {troubles.map((trouble) => (
        <li key={trouble.account}>
          <code class="font-mono text-[0.8125rem]">{trouble.account}</code>
          <WayState standing={trouble} />
        </li>
      ))}
    </ul>
  );
}

function Limits({ route: { modes, only } }: { readonly route: Route }) {
  const limits = Object.entries(only ?? {});
  if (modes === undefined && limits.length === 0) return <span class="text-soft">all of the model</span>;
  return (
    <ul class="flex flex-col gap-1">
      {modes !== undefined && <li>only {modes.join(", ")}</li>}
      {limits.map(([field, limit]) => (
        <li key={field} class="min-w-40 wrap-anywhere">
          <code class="font-mono text-[0.8125rem]">{field}</code>{" "}
          <span class="text-soft">{limitText(limit)}</span>
        </li>
      ))}
    </ul>
  );
}

/** `false`, or what is taken of a field, as JSON Schema. */
function limitText(limit: unknown): string {
  if (limit === false) return "not at all";
  if (typeof limit !== "object" || limit === null) return JSON.stringify(limit);
  if ("enum" in limit && Array.isArray(limit.enum) && Object.keys(limit).length === 1)
    return limit.enum.map(String).join(", ");
  return JSON.stringify(limit);
}
