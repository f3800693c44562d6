import type { ConfigProblem } from "./problem.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Variables that Bun, inside the executable, obeys before or beside this program, and what each lets the environment do (tried on
 * Bun 1.4.5, 2026-11-22). With `BUN_BE_BUN=1` nothing of this program runs, so that nobody here can refuse it. `NODE_OPTIONS` has no
 * effect.
 */
const DANGERS: Readonly<Record<string, string>> = {
  BUN_OPTIONS: "gives svc flags of Bun's, such as --preload, which runs other code inside it",
  BUN_BE_BUN: "makes the executable another program",
  BUN_INSPECT: "lets a debugger run code inside svc",
  BUN_INSPECT_CONNECT_TO: "lets a debugger run code inside svc",
  BUN_INSPECT_NOTIFY: "lets a debugger run code inside svc",
  BUN_INSPECT_PRELOAD: "lets a debugger run code inside svc",
  BUN_CONFIG_VERBOSE_FETCH: "writes every request to a provider into the log, with the key",
  NODE_TLS_REJECT_UNAUTHORIZED: "sends providers' keys to whoever answers in their place",
};

/** The variables that an operator may allow. */
export const RUNTIME_VARIABLES = Object.keys(DANGERS);

/** @param allowedBy the variable that allows them @returns the variables that are set without being allowed, as problems */
export function runtimeVariableProblems(
  env: Env,
  allowed: readonly string[],
  allowedBy: string,
): ConfigProblem[] {
  return Object.entries(DANGERS)
    .filter(([name]) => isInEffect(name, env[name]) && !allowed.includes(name))
    .map(([name, effect]) => ({
      where: name,
      message: `${effect}; unset it, or allow it by name: ${allowedBy}=${name}`,
    }));
}

function isInEffect(name: string, value: string | undefined): boolean {
  return name === "NODE_TLS_REJECT_UNAUTHORIZED" ? value === "0" : value !== undefined && value !== "";
}
