import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import type { Build } from "../run/build.ts";
import { freePort, stopProcess } from "../run/process.ts";
import { measurement } from "../run/report.ts";
import { copyDataFolder, spawnService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

/** Starting from nothing running; the executable itself is in the file cache after the first, uncounted, run. */
export const starts: Bench = async (context) => {
  const rounds = context.rounds * 2;
  let count = 0;
  mkdirSync(context.workspace, { recursive: true });
  const { build } = context.folder;
  const svc = build.executable;
  const data = ["--data-dir", copyDataFolder(context.folder, join(context.workspace, "keys")).path];
  const subjects = {
    version: () => timeToExit([svc, "version"], context.workspace),
    completion: () => timeToExit([svc, "__complete", "--", "keys", "re"], context.workspace),
    name: () => timeToExit([svc, "__complete", "--", "keys", "show", ...data, ""], context.workspace),
    key: () =>
      timeToExit(
        [svc, "keys", "create", "--name", `start-${count++}`, "--quiet", ...data],
        context.workspace,
      ),
    bun: () => timeToExit([process.execPath, "--eval", "0"], context.workspace),
    first: () => timeToReady(build, join(context.workspace, `first-${count++}`)),
    second: () => timeToReady(build, join(context.workspace, "second")),
    bare: timeToBare,
  };
  for (const start of Object.values(subjects)) await start();
  const values = await interleave(rounds, subjects);
  const bun = { name: "bun --eval 0", values: values.bun };
  const short = (name: string, taken: readonly number[]) =>
    measurement({
      name: `${name}, spawn to exit`,
      unit: "ms",
      values: taken,
      baseline: bun,
      target: { kind: "most", value: 40 },
    });
  const serving = { name: "bare Hono from source", values: values.bare };
  return [
    short("svc version", values.version),
    short("svc keys create", values.key),
    short("completion of a word", values.completion),
    short("completion of a key's name", values.name),
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

async function timeToReady(build: Build, dataDir: string): Promise<number> {
  const { child, readyMs } = await spawnService(build, dataDir, freePort(), { core: "any" });
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
