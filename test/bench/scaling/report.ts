import type { Fleet } from "./cluster.ts";
import type { ScalingRecord } from "./record.ts";
import { fit, type ServiceTimes } from "./service-times.ts";
import { type Load, PARTS, type Part, type Simulated, simulate } from "./tasks.ts";

/** A machine beside the database's, as networks of one place have them. */
const NETWORK_US = 300;
/** On the machine that was measured. */
const LOCAL_US = 60;
/** So large a part of what is offered ends where a series holds. */
const HOLDS = 0.9;
/** The series of numbers of nodes. */
const BY_NODES = "10,000 a second";
/** From here on a part counts as full. */
const FULL = 0.95;

/** What was measured, and what the simulation says of the same. */
export interface Compared {
  readonly what: string;
  readonly unit: string;
  readonly measured: number;
  readonly simulated: number;
}

/** Nodes on the measured machine itself. */
export function compare(record: ScalingRecord, seed: number): readonly Compared[] {
  const times = fit(record, LOCAL_US);
  const fleet = {
    connections: 10,
    databaseCores: record.cores,
    sharedCores: record.cores,
    accounts: 1,
    concurrency: 256,
  };
  const creates = simulate({
    ...{ times, seed, seconds: 4 },
    fleet: { ...fleet, apis: 1, workers: 0 },
    load: { kind: "clients", clients: record.clients },
  });
  const { create, work } = record;
  return [
    {
      what: "creates on one node",
      unit: "1/s",
      measured: create.perSecond,
      simulated: creates.createdPerSecond,
    },
    { what: "  half of them within", unit: "ms", measured: create.p50Ms, simulated: creates.createMs.p50 },
    {
      what: "  a row is held for",
      unit: "ms",
      measured: create.heldUs / 1000,
      simulated: creates.heldUs / 1000,
    },
    ...work.map((each) => ({
      what: `tasks made by ${each.workers === 1 ? "one worker" : `${each.workers} workers`} of ${each.nodes} nodes`,
      unit: "1/s",
      measured: each.perSecond,
      simulated: simulate({
        ...{ times, seed, seconds: 0 },
        fleet: { ...fleet, apis: each.nodes - each.workers, workers: each.workers },
        load: { kind: "waiting", tasks: 1_500 },
      }).endedPerSecond,
    })),
  ];
}

/** One point of the table: nodes, what is offered, and what became of it. */
export interface Point {
  readonly series: string;
  readonly nodes: number;
  readonly offered: number;
  readonly result: Simulated;
}

/** A third of the nodes answer. */
function fleetOf(nodes: number, more: Partial<Fleet> = {}): Fleet {
  const apis = Math.max(1, Math.round(nodes / 3));
  return {
    ...{ apis, workers: Math.max(1, nodes - apis), concurrency: 256, connections: 10 },
    ...{ databaseCores: 32, accounts: 1_000, ...more },
  };
}

const RATES = [100, 1_000, 2_500, 5_000, 7_500, 10_000];
const NODES = [2, 5, 10, 25, 50, 100];

/** What is looked at: rates on a hundred nodes in several ways, and numbers of nodes at the highest rate. */
function series(times: ServiceTimes) {
  const even = { largestShare: 0, polls: 0 };
  const [small, hundred] = [fleetOf(10), fleetOf(100)];
  const slow = { ...times, flushUs: 5_000 };
  const rated = (name: string, fleet: Fleet, load: { largestShare: number; polls: number }, of = times) =>
    RATES.map((perSecond) => ({
      name,
      fleet,
      times: of,
      load: { kind: "offered", perSecond, ...load } as const,
    }));
  return [
    ...rated("1,000 accounts", hundred, even),
    ...rated("1,000 accounts, 5 ms a flush", hundred, even, slow),
    ...rated("one account has a fifth", hundred, { largestShare: 0.2, polls: 0 }),
    ...rated("one account has all", hundred, { largestShare: 1, polls: 0 }),
    ...rated("one account has all, 10 nodes", small, { largestShare: 1, polls: 0 }),
    ...rated("8 cores of database", fleetOf(100, { databaseCores: 8 }), even),
    ...rated("10 nodes", small, even),
    ...rated("three polls a task", hundred, { largestShare: 0, polls: 3 }),
    ...NODES.map((nodes) => ({
      ...{ name: BY_NODES, fleet: fleetOf(nodes), times },
      load: { kind: "offered", perSecond: 10_000, ...even } as const,
    })),
  ] satisfies readonly { name: string; fleet: Fleet; times: ServiceTimes; load: Load }[];
}

/** Plays all of them. @param tell called after each */
export function points(
  record: ScalingRecord,
  options: { seed: number; seconds: number },
  tell: () => void,
): readonly Point[] {
  return series(fit(record, NETWORK_US)).map(({ name, fleet, times, load }) => {
    const result = simulate({ ...options, times, fleet, load });
    tell();
    return { series: name, nodes: fleet.apis + fleet.workers, offered: load.perSecond, result };
  });
}

/** The part that is fullest, and whether it has no more to give. */
export function fullest({ used }: Simulated): {
  readonly part: Part;
  readonly used: number;
  readonly isFull: boolean;
} {
  const part = PARTS.reduce((one, other) => (used[other] > used[one] ? other : one));
  return { part, used: used[part], isFull: used[part] >= FULL };
}

export function renderComparison(all: readonly Compared[]): string {
  const rows = all.map(({ what, unit, measured, simulated }) => {
    const difference = (simulated / measured - 1) * 100;
    return `| ${what} | ${round(measured)} ${unit} | ${round(simulated)} ${unit} | ${difference >= 0 ? "+" : "−"}${Math.abs(difference).toFixed(0)} % |`;
  });
  return ["| | measured | simulated | difference |", "|---|---|---|---|", ...rows].join("\n");
}

/** Of each series, as far as it holds: until fewer tasks end than are offered. */
export function renderBends(all: readonly Point[]): string {
  const rows = [
    ...Map.groupBy(
      all.filter(({ series }) => series !== BY_NODES),
      ({ series }) => series,
    ),
  ].map(([name, points]) => {
    const holding = points.filter(({ offered, result }) => result.endedPerSecond > HOLDS * offered);
    const [held, last] = [holding.at(-1), points.at(-1)];
    const { part, used } = last === undefined ? { part: "–", used: 0 } : fullest(last.result);
    return `| ${[
      ...[name, last?.nodes, held === undefined ? "not 100" : held.offered.toLocaleString("en-US")],
      held === undefined ? "–" : `${round(held.result.createMs.p50)} / ${round(held.result.createMs.p99)}`,
      ...[round(last?.result.endedPerSecond ?? Number.NaN), `${part} ${(used * 100).toFixed(0)} %`],
    ].join(" | ")} |`;
  });
  return [
    "| | nodes | holds, tasks/s | a create there, ms (p50 / p99) | ended of 10,000 offered, 1/s | fullest then |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

export function renderPoints(all: readonly Point[]): string {
  const rows = all.map(({ series: name, nodes, offered, result }) => {
    const { part, used, isFull } = fullest(result);
    const { createMs, beginMs } = result;
    return `| ${[
      ...[name, nodes, offered.toLocaleString("en-US"), round(result.endedPerSecond)],
      ...[`${round(createMs.p50)} / ${round(createMs.p99)}`, `${round(beginMs.p50)} / ${round(beginMs.p99)}`],
      `${part} ${(used * 100).toFixed(0)} %${isFull ? ", full" : ""}`,
    ].join(" | ")} |`;
  });
  return [
    "| | nodes | offered, 1/s | ended, 1/s | create, ms (p50 / p99) | begin, ms (p50 / p99) | fullest part |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** What the log takes, which no simulation is needed for. */
export function renderLog({ create, work }: ScalingRecord): string {
  const bytes = create.walBytes + work.reduce((sum, each) => sum + each.walBytes, 0) / work.length;
  const at = (perSecond: number) =>
    `${round((bytes * perSecond) / 1e6)} MB/s at ${perSecond.toLocaleString("en-US")} tasks a second`;
  return `Written ahead: ${round(bytes / 1000)} KB a task, ${at(1_000)}, ${at(10_000)}`;
}

const round = (value: number) =>
  Number.isNaN(value)
    ? "–"
    : value >= 100
      ? Math.round(value).toLocaleString("en-US")
      : value.toFixed(value >= 10 ? 0 : 1);
