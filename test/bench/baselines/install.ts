import { cpSync, existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { runToEnd } from "../run/process.ts";

const INSTALL_WITHIN_MS = 60_000;

/**
 * Installs what the service is measured beside, at the versions of a lock file here. None of it is a dependency of the project.
 *
 * @param from the folder with `package.json` and `bun.lock`
 * @returns a folder below `workspace`, which an earlier call may have filled, or why it cannot be had
 */
export async function installPeers(
  workspace: string,
  from: string,
): Promise<{ path: string } | { refusal: string }> {
  const path = join(workspace, basename(from));
  if (existsSync(join(path, "node_modules"))) return { path };
  mkdirSync(path, { recursive: true });
  for (const file of ["package.json", "bun.lock"]) cpSync(join(from, file), join(path, file));
  const install = runToEnd([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"], {
    cwd: path,
    timeoutMs: INSTALL_WITHIN_MS,
  });
  return install.then(
    () => ({ path }),
    (error: unknown) => ({ refusal: String(error).replaceAll(/\s+/g, " ").slice(0, 300) }),
  );
}
