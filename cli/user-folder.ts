import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Context } from "./context.ts";

/**
 * A folder for what is kept for this user: what the variable names, or else one in the home folder. A relative path in either is
 * ignored, because it would be a different folder for each working directory
 * (https://specifications.freedesktop.org/basedir-spec/latest/, checked 2026-11-22).
 *
 * @returns undefined for a user without a home folder, as a container's often is
 */
export function userFolder(
  { env }: Pick<Context, "env">,
  variable: "XDG_CONFIG_HOME" | "XDG_CACHE_HOME",
  usual: string,
): string | undefined {
  const configured = env[variable] ?? "";
  if (isAbsolute(configured)) return configured;
  const home = env.HOME || registeredHome();
  return home !== undefined && isAbsolute(home) ? join(home, usual) : undefined;
}

function registeredHome(): string | undefined {
  try {
    return homedir();
  } catch {
    // No variable, and no entry for this user in the system's list.
    return undefined;
  }
}
