import { join } from "node:path";
import { type Core, freePort, onCore, stopProcess, track } from "../run/process.ts";
import type { BaselinePlan } from "./plan.ts";

const SERVER = join(import.meta.dir, "server.ts");
const READY_WITHIN_MS = 10_000;

export interface Baseline {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

type WithoutPort<T> = T extends unknown ? Omit<T, "port"> : never;

/** Starts a bare server and waits until it listens. */
export async function startBaseline(
  plan: WithoutPort<BaselinePlan>,
  core: Core = "server",
): Promise<Baseline> {
  const port = freePort();
  const command = [process.execPath, SERVER, JSON.stringify({ ...plan, port })];
  const child = track(
    Bun.spawn(onCore(core, command), {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    }),
  );
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response !== undefined) return { port, pid: child.pid, stop: () => stopProcess(child) };
    if (child.exitCode !== null || performance.now() > deadline) {
      await stopProcess(child);
      throw new Error("The baseline server does not answer.");
    }
    await Bun.sleep(1);
  }
}
