import { join } from "node:path";
import { type LoadGenerator, startLoadGenerator } from "../load/generator.ts";
import { requestText } from "../load/plan.ts";
import { memoryMb } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, type Service, startService } from "../run/service.ts";
import type { Bench, BenchContext } from "./bench.ts";

const WAITERS = 500;
/** Around five seconds, all different, so that they do not end at one moment. */
const WAITS_MS = Array.from({ length: WAITERS }, (_, i) => 4_500 + i * 2);
const WAITED_ROUNDS = 3;
const FAST_CLIENTS = 4;
const FAST_CALLS = 1_500;
const SETTLE_MS = 3_000;
/** Under way at once: all waiters and everything fast. */
const CONCURRENCY = 2_000;
const SAMPLE_EVERY_MS = 50;

/** Synchronous calls that answer at once, while five hundred others wait five seconds each. */
export const syncWaiters: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const service = await resources.open(startService(folder, { isInstant: true, concurrency: CONCURRENCY }));
  const waiters = startLoadGenerator();
  await using _ = { [Symbol.asyncDispose]: () => waiters.stop() };
  await fastP99(context, service);
  await Bun.sleep(SETTLE_MS);
  const idle = memoryMb(service.pid)?.now;
  const alone: number[] = [];
  const among: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < Math.min(3, context.rounds); round++) {
    alone.push(await fastP99(context, service));
    const watched = watchMemory(service.pid);
    // Ends with an error when one of them is not answered with its image.
    const waiting = wait(waiters, service);
    await Bun.sleep(SETTLE_MS);
    among.push(await fastP99(context, service));
    await waiting;
    const highest = watched();
    if (idle !== undefined && highest !== undefined) memory.push(highest - idle);
  }
  const measurements: Measurement[] = [
    measurement({
      name: `fast sync calls among ${WAITERS} waiting ones: p99`,
      unit: "ms",
      values: among,
      baseline: { name: "without the waiting ones", values: alone },
      target: { kind: "mostRatio", value: 2 },
      renders: "nothing: the upstream answers the same PNG of one pixel each time",
      note: `each of ${WAITERS * WAITED_ROUNDS} waiting calls a round got its image`,
    }),
  ];
  if (memory.length === 0) return measurements;
  return [
    ...measurements,
    measurement({
      name: `  memory above idle, highest, ${WAITERS} waiting`,
      unit: "MB",
      values: memory,
      target: { kind: "most", value: 200 },
    }),
  ];
};

async function fastP99({ load, scaled }: BenchContext, { port, folder }: Service): Promise<number> {
  const { p99Ms } = await load.run({
    port,
    connections: FAST_CLIENTS,
    requests: [generating(folder.unlimitedKey, 0)],
    until: { kind: "responses", count: scaled(FAST_CALLS) },
  });
  return p99Ms;
}

async function wait(waiters: LoadGenerator, { port, folder }: Service): Promise<void> {
  await waiters.run({
    port,
    connections: WAITERS,
    requests: WAITS_MS.map((delayMs) => generating(folder.unlimitedKey, delayMs)),
    until: { kind: "responses", count: WAITERS * WAITED_ROUNDS },
  });
}

/** Returns a function that ends the watch and tells the most memory seen. */
function watchMemory(pid: number): () => number | undefined {
  let highest: number | undefined;
  const timer = setInterval(() => {
    const now = memoryMb(pid)?.now;
    if (now !== undefined) highest = Math.max(highest ?? 0, now);
  }, SAMPLE_EVERY_MS);
  return () => {
    clearInterval(timer);
    return highest;
  };
}

function generating(key: string, delayMs: number): string {
  const sandbox = { delay_ms: delayMs };
  return requestText({
    method: "POST",
    path: "/compat/v1/images/generations",
    headers: { Authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "sandbox-image", prompt: "a lighthouse at dusk", sandbox }),
  });
}
