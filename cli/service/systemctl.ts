import { existsSync } from "node:fs";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";

/** What systemd says of a unit (systemctl show). */
export interface UnitState {
  /** active, inactive, failed, activating or deactivating. */
  readonly active: string;
  /** enabled, disabled, or "" where there is no such unit. */
  readonly enabled: string;
  readonly pid: number;
  readonly restarts: number;
  /** How the last run ended: success, exit-code, watchdog … */
  readonly result: string;
  /** Since when it is active, as systemd writes it. */
  readonly since: string;
}

export interface Systemd {
  /** @throws Failure when it ends with an error */
  run(...args: readonly string[]): Promise<void>;
  state(unit: string): Promise<UnitState>;
}

/** systemd(1) makes this folder when it is the system's first process (sd_booted(3)). */
const BOOTED = "/run/systemd/system";

/**
 * The systemd of this machine, or of this user.
 *
 * @param otherwise what to do where it does not run
 * @throws Failure where it does not run
 */
export function openSystemd(isForUser: boolean, otherwise?: string): Systemd {
  if (process.platform !== "linux" || !existsSync(BOOTED))
    throw new Failure(EXIT.error, "no_systemd", "This machine is not run by systemd.", { hint: otherwise });
  const scope = isForUser ? ["--user"] : [];
  return {
    async run(...args) {
      await runTool(["systemctl", ...scope, "--quiet", ...args]);
    },
    async state(unit) {
      const properties = PROPERTIES.join(",");
      const text = await runTool(["systemctl", ...scope, "show", unit, `--property=${properties}`]);
      const value = new Map(text.split("\n").map((line): [string, string] => split(line)));
      const of = (name: (typeof PROPERTIES)[number]) => value.get(name) ?? "";
      return {
        active: of("ActiveState"),
        enabled: of("UnitFileState"),
        pid: Number(of("MainPID")),
        restarts: Number(of("NRestarts")),
        result: of("Result"),
        since: of("ActiveEnterTimestamp"),
      };
    },
  };
}

const PROPERTIES = [
  ...(["ActiveState", "UnitFileState", "MainPID", "NRestarts", "Result", "ActiveEnterTimestamp"] as const),
];

function split(line: string): [string, string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}

/** Runs a program of systemd's. @returns what it prints @throws Failure when it is missing, or ends with an error */
export async function runTool(command: readonly string[]): Promise<string> {
  const line = command.join(" ");
  const child = spawn(command, line);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code === 0) return out;
  const said = err.trim().split("\n").slice(0, 3).join(" ");
  throw new Failure(EXIT.error, "systemd_failed", `\`${line}\` failed: ${said || `it ended with ${code}.`}`);
}

function spawn(command: readonly string[], line: string) {
  try {
    return Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  } catch (cause) {
    throw new Failure(EXIT.error, "systemd_failed", `\`${line}\` cannot be run.`, { cause });
  }
}
