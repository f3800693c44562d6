/*
 * `bun test/bench/scaling/measure.ts [FILE]`: measures what a node and its PostgreSQL database do for a task, on this machine, and
 * writes the record that `bun run simulate` reads. It takes about a minute, and both cores of a small machine.
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { emptyFolder, type Server, spawnServer, stopServers } from "../../helpers/server.ts";
import { type LoadGenerator, startLoadGenerator } from "../load/generator.ts";
import { requestText } from "../load/plan.ts";
import { describeMachine, readMachine } from "../run/machine.ts";
import { cpuMs } from "../run/process.ts";
import { TINY } from "../run/service.ts";
import { eachOf, type MeasuredDatabase, openMeasuredDatabase } from "./measured-database.ts";
import type { Cost, Idle, ScalingRecord } from "./record.ts";

const FILE = join(import.meta.dir, "../../../docs/scaling/measured.json");
const CLIENTS = 32;
/** Enough for some seconds of work, beside which the start and the pauses between two looks are little. */
const TASKS = 8_000;
const IDLE_MS = 8_000;
const MOST_MS = 200_000;

async function measure(database: MeasuredDatabase, load: LoadGenerator): Promise<ScalingRecord> {
  const [before = 0] = loadavg();
  const api = await node("api");
  const key = api.firstKey();
  const idle = await idleOf(database, api);
  await creating(load, api, key, 500);
  const { statementUs, listenUs } = await database.notifying();
  say("creates");
  const create = await createsOf(database, load, api, key);
  say("one worker");
  const first = await node("worker");
  await drained(database, 500 + 2 * TASKS);
  const work = [await workOf(database, load, { api, key, workers: [first], others: [api] })];
  say("two workers");
  const second = await node("worker");
  work.push(await workOf(database, load, { api, key, workers: [first, second], others: [api] }));
  const more = [await node("api"), await node("api")];
  work.push(await workOf(database, load, { api, key, workers: [first, second], others: [api, ...more] }));
  const machine = readMachine();
  return {
    format: 1,
    takenAt: new Date().toISOString(),
    machine: `${describeMachine({ ...machine, isPinned: false })}; clients, nodes and database share them, flushes on; load of the machine before ${before.toFixed(1)}, after ${(loadavg()[0] ?? 0).toFixed(1)}`,
    cores: machine.cores,
    flushUs: Math.round(await database.flushUs()),
    statementUs,
    listenUs,
    clients: CLIENTS,
    clientUs: create.clientUs,
    idle,
    create: create.cost,
    work,
  };
}

async function node(role: "api" | "worker"): Promise<Server> {
  const env = {
    ...{ SVC_DATABASE: database.url, SVC_SECRET_KEY: "k".repeat(43), SVC_ROLE: role },
    ...{ SVC_ASSETS_PATH: assets, SVC_LOG_REQUESTS: "false" },
  };
  const server = spawnServer({ env });
  for (;;) {
    const answer = await fetch(`${server.url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return server;
    if (server.hasExited()) throw new Error(server.stderr());
    await Bun.sleep(20);
  }
}

function say(what: string): void {
  process.stderr.write(`${what} …\n`);
}

const cpu = (pid: number) => cpuMs(pid) ?? 0;
const sum = (servers: readonly Server[]) => servers.reduce((ms, { pid }) => ms + cpu(pid), 0);

async function idleOf(database: MeasuredDatabase, api: Server): Promise<Idle> {
  await Bun.sleep(2_000);
  const [before, nodeBefore] = [await database.used(), cpu(api.pid)];
  await Bun.sleep(IDLE_MS);
  const { walBytes: _, ...each } = eachOf(before, await database.used(), IDLE_MS / 1000);
  return { ...each, nodeUs: ((cpu(api.pid) - nodeBefore) * 1000) / (IDLE_MS / 1000) };
}

const creating = (load: LoadGenerator, api: Server, key: string, count: number) =>
  load.run({
    port: api.port,
    connections: CLIENTS,
    requests: [
      requestText({
        ...{ method: "POST", path: "/v1/images/generations", headers: { Authorization: `Bearer ${key}` } },
        body: JSON.stringify(TINY),
      }),
    ],
    until: { kind: "responses", count },
  });

/** Creates while nobody works; once for what they cost, and once more for how long rows are held. */
async function createsOf(database: MeasuredDatabase, load: LoadGenerator, api: Server, key: string) {
  const before = { used: await database.used(), node: cpu(api.pid), client: cpu(load.pid) };
  const result = await creating(load, api, key, TASKS);
  const each = eachOf(before.used, await database.used(), TASKS);
  const us = (ms: number) => (ms * 1000) / TASKS;
  const [nodeUs, clientUs] = [us(cpu(api.pid) - before.node), us(cpu(load.pid) - before.client)];
  const heldUs = await heldIn(database, () => creating(load, api, key, TASKS));
  const cost = {
    ...each,
    nodeUs,
    hearUs: 0,
    heldUs,
    perSecond: (TASKS * 1000) / result.elapsedMs,
    p50Ms: result.p50Ms,
  };
  return { cost, clientUs };
}

interface Working {
  readonly api: Server;
  readonly key: string;
  readonly workers: readonly Server[];
  /** Those that only hear. */
  readonly others: readonly Server[];
}

/** Workers stand still while tasks are taken in, and end them together. */
async function workOf(
  database: MeasuredDatabase,
  load: LoadGenerator,
  { api, key, workers, others }: Working,
) {
  const run = async () => {
    for (const { pid } of workers) process.kill(pid, "SIGSTOP");
    await creating(load, api, key, TASKS);
    const [used, node, hear] = [await database.used(), sum(workers), sum(others)];
    const total = (await database.ended()) + TASKS;
    for (const { pid } of workers) process.kill(pid, "SIGCONT");
    const startedAt = performance.now();
    await drained(database, total);
    const seconds = (performance.now() - startedAt) / 1000;
    return { used, node, hear, seconds };
  };
  const before = await run();
  const each = eachOf(before.used, await database.used(), TASKS);
  const us = (ms: number) => (ms * 1000) / TASKS;
  const cost: Cost = {
    ...each,
    perSecond: TASKS / before.seconds,
    nodeUs: us(sum(workers) - before.node),
    hearUs: us(sum(others) - before.hear) / others.length,
    heldUs: await heldIn(database, run),
  };
  return { ...cost, workers: workers.length, nodes: workers.length + others.length };
}

/** How long transactions hold the row of their account: what is there on average, by how many come (Little's law). */
async function heldIn(database: MeasuredDatabase, run: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  const [before, startedAt] = [await database.used(), performance.now()];
  const looking = database.holders(() => isOver);
  await run();
  isOver = true;
  const [holders, after] = [await looking, await database.used()];
  return (holders * (performance.now() - startedAt) * 1000) / (after.commits - before.commits);
}

async function drained(database: MeasuredDatabase, total: number): Promise<void> {
  const until = performance.now() + MOST_MS;
  while ((await database.ended()) < total) {
    if (performance.now() > until)
      throw new Error(`Only ${await database.ended()} of ${total} tasks have ended.`);
    await Bun.sleep(200);
  }
}

const assets = emptyFolder("scaling-assets");
const database = await openMeasuredDatabase();
const load = startLoadGenerator();
try {
  const record = await measure(database, load);
  const file = process.argv[2] ?? FILE;
  writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`);
  process.stderr.write(`${file}\n`);
} finally {
  await load.stop();
  await stopServers();
  await database.stop();
}
