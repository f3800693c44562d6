import { SQL } from "bun";
import { HAS_POSTGRES } from "../../moving/database-servers.ts";
import { startBaseline } from "../baselines/baseline.ts";
import { requestText } from "../load/plan.ts";
import { startDatabase, startNode } from "../run/postgres.ts";
import { measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { createTask, ORDINARY, readStatus, type Service, SMALLEST, TINY } from "../run/service.ts";
import { interleave, quantile } from "../run/statistics.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";
import { creating } from "./creates.ts";

const PER_ROUND = 10_000;
const WARM_UP = 5_000;
const TASKS = 100;
/** Never fewer: a last round in which few are left would count like a full one. */
const WHOLE_TASKS = 96;
/** Tasks at once of a worker, and how long each takes: it waits, so that nodes do not compete for the machine's cores. */
const [AT_ONCE, LONG_MS] = [4, 250];
const LONG = { ...TINY, sandbox: { delay_ms: LONG_MS } } as const;

/** Nodes on a PostgreSQL server beside them, which waits for its disk at each commit. Nothing is bound to a core. */
export const postgres: Bench = async (context) => {
  if (!HAS_POSTGRES) {
    process.stderr.write(" skipped, for there is no PostgreSQL server here");
    return [];
  }
  return [...(await measureCreates(context)), ...(await measureWorkers(context))];
};

async function measureCreates(context: BenchContext): Promise<Measurement[]> {
  await using resources = new Resources();
  const { url } = await resources.open(startDatabase());
  const api = await resources.open(
    startNode({ folder: context.folder, url, name: "creates-api" }, { env: { SVC_ROLE: "api" } }),
  );
  const template = await createTask(api, ORDINARY);
  const svc = requesting(api, creating(api.folder.unlimitedKey));
  const bare = requesting(
    await resources.open(startBaseline({ mode: "insert-postgres", database: url, template }, "any")),
    requestText({ method: "POST", path: "/create", body: JSON.stringify(ORDINARY) }),
  );
  for (const subject of [bare, svc]) await measureRate(context.load, subject, WARM_UP);
  const count = context.scaled(PER_ROUND);
  const rates = await interleave(context.rounds, {
    bare: () => measureRate(context.load, bare, count),
    svc: () => measureRate(context.load, svc, count),
  });
  const baseline = { name: "bare Hono, the same insert for each request, 10 connections", rates: rates.bare };
  return [
    rateMeasurement("creates on PostgreSQL, one account", rates.svc, baseline, {
      target: { kind: "leastRatio", value: 0.5 },
    }),
  ];
}

const requesting = (server: RateSubject["server"], request: string): RateSubject => ({
  ...{ server, requests: [request], connections: CLIENTS },
});

async function measureWorkers(context: BenchContext): Promise<Measurement[]> {
  await using resources = new Resources();
  const { url } = await resources.open(startDatabase());
  const { folder } = context;
  const api = await resources.open(
    startNode({ folder, url, name: "work-api" }, { env: { SVC_ROLE: "api" } }),
  );
  const key = api.folder.unlimitedKey;
  const worker = (name: string) =>
    resources.open(
      startNode({ folder, url, name, key }, { env: { SVC_ROLE: "worker" }, concurrency: AT_ONCE }),
    );
  await worker("work-1");
  await runOneByOne(api, 10);
  const begins: number[] = [];
  const one: number[] = [];
  const two: number[] = [];
  for (let round = 0; round < context.rounds; round++) {
    begins.push(quantile(await beginsOf(url, await runOneByOne(api, context.scaled(TASKS))), 0.5));
    one.push(await wholeTasks(api, WHOLE_TASKS));
  }
  await worker("work-2");
  await wholeTasks(api, 2 * AT_ONCE);
  for (let round = 0; round < context.rounds; round++) two.push(await wholeTasks(api, WHOLE_TASKS));
  return [
    measurement({
      name: "create to begin on another node, p50",
      unit: "ms",
      values: begins,
      target: { kind: "most", value: 20 },
      renders: SMALLEST,
    }),
    measurement({
      name: "whole tasks, two workers",
      unit: "tasks/s",
      values: two,
      baseline: { name: "one worker", values: one },
      target: { kind: "leastRatio", value: 1.7 },
      note: `each task takes ${LONG_MS} ms at its upstream, ${AT_ONCE} at once on each node`,
      renders: SMALLEST,
    }),
  ];
}

/** Creates tasks one after the other, each when the one before it is over. */
async function runOneByOne(api: Service, count: number): Promise<string[]> {
  const tasks: string[] = [];
  for (let i = 0; i < count; i++) {
    const task = await createTask(api, TINY);
    await readStatus(api, task, 10);
    tasks.push(task);
  }
  return tasks;
}

/** @returns ms from the create of each task to its begin, ascending; nodes count both by the time of the database */
async function beginsOf(url: string, tasks: readonly string[]): Promise<number[]> {
  const sql = new SQL({ url, max: 1 });
  const given = sql.array([...tasks], "TEXT");
  const rows: { ms: string }[] =
    await sql`select started_at - created_at as ms from task where id = any(${given}) order by 1`;
  await sql.close();
  if (rows.length !== tasks.length) throw new Error("Not every task is there.");
  return rows.map(({ ms }) => Number(ms));
}

/** @returns tasks per second, from the first create to the last end */
async function wholeTasks(api: Service, count: number): Promise<number> {
  const startedAt = performance.now();
  const tasks = await Promise.all(Array.from({ length: count }, () => createTask(api, LONG)));
  const ended = await Promise.all(tasks.map((task) => readStatus(api, task, 60)));
  if (ended.some((status) => status !== "completed")) throw new Error("Not every task was completed.");
  return (count / (performance.now() - startedAt)) * 1000;
}
