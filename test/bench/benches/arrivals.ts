import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { askingUpstream, imagesAnswer } from "../baselines/images-answer.ts";
import { type Measurement, measurement, type Target } from "../run/report.ts";
import type { Resources } from "../run/resources.ts";
import { copyDataFolder, createTask, ORDINARY, readStatus, startService } from "../run/service.ts";
import { interleave, quantile } from "../run/statistics.ts";
import type { BenchContext } from "./bench.ts";

const TASKS = 150;
const FIRST = 40;
/** As long as the engine compiles what a create runs through, it has the core for up to 0.7 ms at a time. */
const WARM_UP = { tasks: 12_000, clients: 16 };
const PAUSE_MS = 8;
/** What a create that begins its task writes to the log of the database: eleven pages. */
const WRITTEN_BYTES = 11 * 4_120;

const RENDERS = "nothing: the upstream answers the same PNG of one pixel each time";
const NOTE =
  "one task at a time on an idle server that has had 12,000; from before the client's request to the request's arrival at an upstream behind the OpenAI adapter, " +
  "by the clock of one process that is both; beside the same request straight to the upstream";

/** How long it takes from a caller's request until the upstream is asked, as both of them see it. */
export async function arrivals(context: BenchContext, resources: Resources): Promise<Measurement[]> {
  const upstream = await resources.open(startUpstream());
  const folder = copyDataFolder(context.folder, join(context.workspace, "outside"));
  const env = askingUpstream(`http://127.0.0.1:${upstream.port}/v1`);
  const service = await resources.open(startService(folder, { env }));
  const throughService = async () => {
    const task = await createTask(service, { ...ORDINARY, model: "gpt-image-1-mini" });
    const status = await readStatus(service, task, 10);
    if (status !== "completed") throw new Error(`${task} is ${status} instead of completed.`);
  };
  const straight = async () => {
    const body = JSON.stringify({ ...ORDINARY, model: "gpt-image-1-mini" });
    const response = await fetch(`http://127.0.0.1:${upstream.port}/v1/images/generations`, {
      method: "POST",
      body,
    });
    await response.arrayBuffer();
  };
  const round = (ask: () => Promise<void>, count: number) => async () => {
    const latencies: number[] = [];
    for (let i = 0; i < count; i++) {
      const from = performance.now();
      await ask();
      latencies.push(upstream.askedAt() - from);
      await Bun.sleep(PAUSE_MS);
    }
    return latencies.sort((a, b) => a - b);
  };
  for (const ask of [throughService, straight]) await round(ask, FIRST)();
  const first = await round(throughService, context.scaled(TASKS))();
  for (const ask of [throughService, straight]) await warmUp(ask, WARM_UP.tasks);
  const flushed = join(context.workspace, "flushed");
  const rounds = await interleave(context.rounds, {
    service: round(throughService, context.scaled(TASKS)),
    bare: round(straight, context.scaled(TASKS)),
    flush: () => timeFlushes(flushed, context.scaled(TASKS)),
  });
  const line = (label: string, share: number, target?: Target) =>
    measurement({
      name: `request to upstream, seen from outside, ${label}`,
      unit: "ms",
      values: rounds.service.map((each) => quantile(each, share)),
      baseline: { name: "straight to it", values: rounds.bare.map((each) => quantile(each, share)) },
      ...(target === undefined ? {} : { target, note: NOTE }),
      renders: RENDERS,
    });
  return [
    line("p50", 0.5, { kind: "most", value: 1 }),
    line("p99", 0.99),
    measurement({
      name: "request to upstream, seen from outside, p50 after the first 40 requests",
      unit: "ms",
      values: [quantile(first, 0.5)],
      renders: RENDERS,
    }),
    measurement({
      name: "one flush of this disk, p50",
      unit: "ms",
      values: rounds.flush.map((each) => quantile(each, 0.5)),
      note: "as many bytes as lie between a request and its submission, which has one flush: the lines above cannot be below it",
    }),
  ];
}

async function warmUp(ask: () => Promise<void>, count: number): Promise<void> {
  let left = count;
  const client = async () => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: WARM_UP.clients }, client));
}

/** @returns ms that each write to the end of a file took, with its flush, ascending */
async function timeFlushes(path: string, count: number): Promise<number[]> {
  const bytes = Buffer.alloc(WRITTEN_BYTES, 1);
  const file = openSync(path, "a");
  const latencies: number[] = [];
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    writeSync(file, bytes);
    fsyncSync(file);
    latencies.push(performance.now() - from);
    await Bun.sleep(PAUSE_MS);
  }
  closeSync(file);
  return latencies.sort((a, b) => a - b);
}

/** An upstream in this process, which knows when it was last asked. */
async function startUpstream() {
  let askedAt = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      askedAt = performance.now();
      return Response.json(imagesAnswer());
    },
  });
  return { port: server.port, askedAt: () => askedAt, stop: () => server.stop(true) };
}
