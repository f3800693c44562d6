import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, onCore, runToEnd, stopProcess, track } from "../../run/process.ts";
import type { Baseline } from "../baseline.ts";

const INSTALL_WITHIN_MS = 60_000;
const READY_WITHIN_MS = 20_000;
const ENTRY = "node_modules/@portkey-ai/gateway/build/start-server.js";

/** Node is what its own documentation starts it with. */
export const RUNTIME = Bun.which("node") ?? process.execPath;

/**
 * Installs the gateway that the service is measured beside, at the versions of the lock file here. It is no dependency of the
 * project: it brings some ninety packages that nothing else needs.
 *
 * @returns its folder below `workspace`, which an earlier call may have filled, or why it cannot be had
 */
export async function installGateway(workspace: string): Promise<{ path: string } | { refusal: string }> {
  const path = join(workspace, "gateway");
  if (existsSync(join(path, ENTRY))) return { path };
  mkdirSync(path, { recursive: true });
  for (const file of ["package.json", "bun.lock"]) cpSync(join(import.meta.dir, file), join(path, file));
  const install = runToEnd([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"], {
    cwd: path,
    timeoutMs: INSTALL_WITHIN_MS,
  });
  return install.then(
    () => ({ path }),
    (error: unknown) => ({ refusal: String(error).replaceAll(/\s+/g, " ").slice(0, 300) }),
  );
}

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
