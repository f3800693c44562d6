/*
 * How fast the compiled executable is, beside bare servers measured in the same run.
 *
 *   bun run bench [--only creates,statuses] [--json] [--quick] [--strict]
 *
 * SVC_BIN names the executable, dist/svc otherwise. With --strict a missed target ends it with exit code 1.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { assetReads } from "./benches/asset-reads.ts";
import type { Bench } from "./benches/bench.ts";
import { callbacks } from "./benches/callbacks.ts";
import { creates } from "./benches/creates.ts";
import { dispatches } from "./benches/dispatches.ts";
import { forms } from "./benches/forms.ts";
import { gateway } from "./benches/gateway.ts";
import { hooks } from "./benches/hooks.ts";
import { memory } from "./benches/memory.ts";
import { moderation } from "./benches/moderation.ts";
import { overview } from "./benches/overview.ts";
import { routing } from "./benches/routing.ts";
import { sameKey } from "./benches/same-key.ts";
import { seeded } from "./benches/seeded.ts";
import { starts } from "./benches/starts.ts";
import { statuses } from "./benches/statuses.ts";
import { syncWaiters } from "./benches/sync-waiters.ts";
import { throughput } from "./benches/throughput.ts";
import { watch } from "./benches/watch.ts";
import { type LoadGenerator, startLoadGenerator } from "./load/generator.ts";
import { watchContention } from "./run/contention.ts";
import { describeMachine } from "./run/machine.ts";
import { killAll } from "./run/process.ts";
import { isMet, type Measurement, renderTable, verdict } from "./run/report.ts";
import {
  BINARY,
  createDataFolder,
  createTask,
  type DataFolder,
  readStatus,
  startService,
  TINY,
} from "./run/service.ts";

const BENCHES: Readonly<Record<string, Bench>> = {
  creates,
  statuses,
  dispatches,
  throughput,
  starts,
  memory,
  assets: assetReads,
  seeded,
  gateway,
  "sync-waiters": syncWaiters,
  "same-key": sameKey,
  callbacks,
  overview,
  watch,
  forms,
  routing,
  hooks,
  moderation,
};

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
  },
});

const chosen = chooseBenches(options.only);
if (!existsSync(BINARY)) {
  process.stderr.write(`There is no ${BINARY}. Build it with \`bun run build\`, or set SVC_BIN.\n`);
  process.exit(2);
}
const workspace = mkdtempSync(join(tmpdir(), "svc-bench-"));
const load = startLoadGenerator();
for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => {
    killAll();
    rmSync(workspace, { recursive: true, force: true });
    process.exit(exitCode);
  });
}
try {
  const measurements = await runAll(load);
  await load.stop();
  report(measurements);
  process.exitCode = options.strict && measurements.some((each) => isMet(each) === false) ? 1 : 0;
} finally {
  await load.stop();
  rmSync(workspace, { recursive: true, force: true });
}

async function runAll(generator: LoadGenerator): Promise<Measurement[]> {
  const { folder, template } = await prepare();
  const measurements: Measurement[] = [];
  for (const [name, bench] of chosen) {
    const startedAt = performance.now();
    const contention = watchContention(generator.pid);
    process.stderr.write(`${name} …`);
    const own = join(workspace, name);
    mkdirSync(own);
    const found = await bench({
      workspace: own,
      folder,
      template,
      load: generator,
      rounds: options.quick ? 3 : 7,
      scaled: (count) => (options.quick ? Math.ceil(count / 4) : count),
    });
    rmSync(own, { recursive: true, force: true });
    process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
    measurements.push(...found.map((each) => ({ ...each, contention: contention() })));
  }
  return measurements;
}

/** A data folder with one completed task, which the benches copy. */
async function prepare(): Promise<{ folder: DataFolder; template: string }> {
  const folder = await createDataFolder(join(workspace, "template"));
  const service = await startService(folder);
  try {
    const template = await createTask(service, TINY);
    const status = await readStatus(service, template, 30);
    if (status !== "completed") throw new Error(`The first task is ${status} instead of completed.`);
    return { folder, template };
  } finally {
    await service.stop();
  }
}

function report(measurements: readonly Measurement[]): void {
  const machine = describeMachine();
  if (options.json) {
    const rows = measurements.map((each) => ({ ...each, verdict: verdict(each) }));
    console.log(JSON.stringify({ machine, quick: options.quick, measurements: rows }, undefined, 2));
    return;
  }
  const rounds = `median of ${options.quick ? 3 : 7} interleaved rounds and their spread`;
  console.log(`${machine}\n${rounds}\n`);
  console.log(renderTable(measurements));
}

function chooseBenches(only: string | undefined): [string, Bench][] {
  const wanted = only?.split(",");
  const unknown = wanted?.find((name) => BENCHES[name] === undefined);
  if (unknown !== undefined) {
    process.stderr.write(`There is no "${unknown}"; there are ${Object.keys(BENCHES).join(", ")}.\n`);
    process.exit(2);
  }
  return Object.entries(BENCHES).filter(([name]) => wanted === undefined || wanted.includes(name));
}
