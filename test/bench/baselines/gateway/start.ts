import { join } from "node:path";
import { freePort, onCore, stopProcess, track } from "../../run/process.ts";
import type { Baseline } from "../baseline.ts";
import { installPeers } from "../install.ts";

const READY_WITHIN_MS = 20_000;
const ENTRY = "node_modules/@portkey-ai/gateway/build/start-server.js";

/** Node is what its own documentation starts it with. */
export const RUNTIME = Bun.which("node") ?? process.execPath;

/** Installs the gateway that the service is measured beside. It brings some ninety packages that nothing else needs. */
export const installGateway = (workspace: string) => installPeers(workspace, import.meta.dir);

/** Starts the gateway as in production, and waits until it answers. */
export async function startGateway(folder: string): Promise<Baseline> {
  const port = freePort();
  const child = track(
    Bun.spawn(onCore("server", [RUNTIME, join(folder, ENTRY), `--port=${port}`, "--headless"]), {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", NODE_ENV: "production" },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    }),
  );
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return { port, pid: child.pid, stop: () => stopProcess(child) };
    if (child.exitCode !== null || performance.now() > deadline) {
      await stopProcess(child);
      throw new Error("The gateway does not answer.");
    }
    await Bun.sleep(5);
  }
}
