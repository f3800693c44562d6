import { join } from "node:path";
import { cpuMs } from "../run/process.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, holdSlot, type Service, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench, BenchContext } from "./bench.ts";
import { creating } from "./creates.ts";

const FORGED_PER_SECOND = 1_000;
const SENT_EVERY_MS = 10;
const ROUND_MS = 5_000;
/** Creates wait for each other's commits, and leave the server some time of its core. */
const CLIENTS = 4;
const FORGED_ALONE = 10_000;

/** What forged calls of providers cost, and what creates notice of a thousand a second of them. */
export const hooks: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const service = await resources.open(startService(folder, { concurrency: 1 }));
  const slot = await holdSlot(service);
  await createsFor(context, service);
  const { alone, beside, forged } = await interleave(context.rounds, {
    alone: () => createsFor(context, service),
    beside: () => besideForged(service, () => createsFor(context, service)),
    forged: () => forgedAlone(service, context.scaled(FORGED_ALONE)),
  });
  await slot.requireHeld();
  return [
    measurement({
      name: "creates beside 1,000 forged calls of providers a second, p99",
      unit: "ms",
      values: beside,
      baseline: { name: "without them", values: alone },
      target: { kind: "mostRatio", value: 1.5 },
    }),
    measurement({
      name: "a forged call of a provider: processor time",
      unit: "µs",
      values: forged,
      note: "connection, routing, one HMAC and the 404 included; nothing is read",
    }),
  ];
};

/** @returns p99 of creates, in milliseconds */
async function createsFor({ load, folder, scaled }: BenchContext, { port }: Service): Promise<number> {
  const until = { kind: "time", ms: scaled(ROUND_MS) } as const;
  const requests = [creating(folder.unlimitedKey)];
  return (await load.run({ port, connections: CLIENTS, requests, until })).p99Ms;
}

/** Sends forged calls at their rate until the work is done. */
async function besideForged<T>(service: Service, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const answers: Promise<void>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * FORGED_PER_SECOND;
    while (answers.length < due) answers.push(forge(service, answers.length));
  }, SENT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await Promise.all(answers);
  }
}

/** @returns processor time of the server for each, in microseconds */
async function forgedAlone(service: Service, count: number): Promise<number> {
  const before = cpuMs(service.pid) ?? Number.NaN;
  let sent = 0;
  const send = async () => {
    while (sent < count) await forge(service, sent++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, send));
  return (((cpuMs(service.pid) ?? Number.NaN) - before) / count) * 1_000;
}

/** A token of the right shape that is none, another one each time. */
async function forge({ port }: Service, number: number): Promise<void> {
  const token = `${String(number).padStart(26, "0")}-${"A".repeat(43)}`;
  const url = `http://127.0.0.1:${port}/hooks/${token}`;
  const response = await fetch(url, { method: "POST", body: '{"status":"OK"}' });
  await response.arrayBuffer();
  if (response.status !== 404) throw new Error(`A forged call was answered with ${response.status}.`);
}
