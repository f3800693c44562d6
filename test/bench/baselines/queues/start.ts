import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, onCore, stopProcess, track } from "../../run/process.ts";
import type { Baseline } from "../baseline.ts";
import { installPeers } from "../install.ts";
import type { QueuePlan } from "./plan.ts";

const READY_WITHIN_MS = 10_000;
const SERVER = join(import.meta.dir, "server.ts");

/** Installs BullMQ and bunqueue. */
export const installQueues = (workspace: string) => installPeers(workspace, import.meta.dir);

/** Starts a Redis that flushes every command to the disk before it answers. @returns undefined where there is none */
export async function startRedis(folder: string) {
  const redis = Bun.which("redis-server");
  if (redis === null) return undefined;
  mkdirSync(folder, { recursive: true });
  const port = freePort();
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const flushing = ["--appendonly", "yes", "--appendfsync", "always"];
  const child = track(
    Bun.spawn(onCore("server", [redis, ...settings, ...flushing]), { stdin: "ignore", stdout: "ignore" }),
  );
  await until(async () => {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
  });
  return { port, stop: () => stopProcess(child) };
}

/** Starts a server that keeps its jobs in such a queue, below `folder` where it needs files. */
export async function startQueue(folder: string, given: Omit<QueuePlan, "port">): Promise<Baseline> {
  mkdirSync(folder, { recursive: true });
  const port = freePort();
  const plan: QueuePlan = { ...given, port };
  const child = track(
    Bun.spawn(onCore("server", [process.execPath, SERVER, JSON.stringify(plan)]), {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", NODE_ENV: "production", DATA_PATH: join(folder, "queue.db") },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
    }),
  );
  await until(async () => {
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  });
  return { port, pid: child.pid, stop: () => stopProcess(child) };
}

/** @throws Error when `attempt` still throws after a while */
async function until(attempt: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(5);
    }
  }
}
