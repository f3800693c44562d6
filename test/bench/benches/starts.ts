import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import { freePort, stopProcess } from "../run/process.ts";
import { measurement } from "../run/report.ts";
import { BINARY, spawnService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

/** Starting from nothing running; the executable itself is in the file cache after the first, uncounted, run. */
export const starts: Bench = async (context) => {
  const rounds = context.rounds * 2;
  let count = 0;
  const subjects = {
    version: () => timeToExit([BINARY, "version"], context.workspace),
    bun: () => timeToExit([process.execPath, "--eval", "0"], context.workspace),
    first: () => timeToReady(join(context.workspace, `first-${count++}`)),
    second: () => timeToReady(join(context.workspace, "second")),
    bare: timeToBare,
  };
  mkdirSync(context.workspace, { recursive: true });
  for (const start of Object.values(subjects)) await start();
  const values = await interleave(rounds, subjects);
  const serving = { name: "bare Hono from source", values: values.bare };
  return [
    measurement({
      name: "svc version, spawn to exit",
      unit: "ms",
      values: values.version,
      baseline: { name: "bun --eval 0", values: values.bun },
      target: { kind: "most", value: 50 },
    }),
    measurement({
      name: "first serve, spawn to /readyz 200",
      unit: "ms",
      values: values.first,
      baseline: serving,
      target: { kind: "most", value: 400 },
      note: "the data folder does not exist; native libraries are where an earlier run unpacked them",
    }),
    measurement({
      name: "second serve, spawn to /readyz 200",
      unit: "ms",
      values: values.second,
      baseline: serving,
    }),
  ];
};

async function timeToExit(command: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  const exitCode = await child.exited;
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}.`);
  return performance.now() - startedAt;
}

async function timeToReady(dataDir: string): Promise<number> {
  const { child, readyMs } = await spawnService(dataDir, freePort(), { core: "any" });
  await stopProcess(child);
  return readyMs;
}

async function timeToBare(): Promise<number> {
  const startedAt = performance.now();
  const server = await startBaseline({ mode: "none" }, "any");
  const readyMs = performance.now() - startedAt;
  await server.stop();
  return readyMs;
}
