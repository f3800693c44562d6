/*
 * How fast the compiled executable is, beside bare servers measured in the same run.
 *
 *   bun run bench [--only creates,statuses] [--json] [--quick] [--strict]
 *
 * SVC_BIN names the executable, dist/svc otherwise. With --strict a missed target ends it with exit code 1.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BENCH_NAMES, chooseBenches } from "./benches/all.ts";
import { type LoadGenerator, startLoadGenerator } from "./load/generator.ts";
import { ownBuild } from "./run/build.ts";
import { watchContention } from "./run/contention.ts";
import { describeMachine, readMachine } from "./run/machine.ts";
import { killAll } from "./run/process.ts";
import { isMet, type Measurement, renderTable, verdict } from "./run/report.ts";
import { createRunner } from "./run/runner.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
  },
});

const only = options.only?.split(",");
const unknown = only?.find((name) => !BENCH_NAMES.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`There is no "${unknown}"; there are ${BENCH_NAMES.join(", ")}.\n`);
  process.exit(2);
}
const build = ownBuild();
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
  const runner = createRunner({ workspace, load: generator, isQuick: options.quick });
  const prepared = await runner.prepare(build, "own");
  const measurements: Measurement[] = [];
  for (const [name, bench] of chooseBenches(only)) {
    const startedAt = performance.now();
    const watched = watchContention(generator.pid);
    process.stderr.write(`${name} …`);
    const found = await runner.run(bench, prepared, options.quick ? 3 : 7);
    process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
    const contention = watched();
    measurements.push(...found.map((each) => ({ ...each, contention })));
  }
  return measurements;
}

function report(measurements: readonly Measurement[]): void {
  const machine = describeMachine(readMachine());
  if (options.json) {
    const rows = measurements.map((each) => ({ ...each, verdict: verdict(each) }));
    console.log(JSON.stringify({ machine, quick: options.quick, measurements: rows }, undefined, 2));
    return;
  }
  const rounds = `median of ${options.quick ? 3 : 7} interleaved rounds and their spread`;
  console.log(`${machine}\n${rounds}\n`);
  console.log(renderTable(measurements));
}
