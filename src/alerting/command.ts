import { resolve } from "node:path";
import { orAborted } from "../toolkit/deadline.ts";
import { reasonOf } from "../toolkit/system-error.ts";

export interface AlertCommand {
  /** The program and its arguments. No shell reads them. */
  readonly run: readonly string[];
  readonly folder: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs a program that reads the notices from standard input. The program and everything that it started are ended when it has
 * finished or its time is up. @throws Error
 */
export async function runAlertCommand(
  options: AlertCommand,
  body: string,
  signal: AbortSignal,
): Promise<void> {
  const [program = "", ...rest] = options.run;
  const path = program.includes("/") ? resolve(options.folder, program) : program;
  const child = start([path, ...rest], options, body);
  try {
    const exitCode = await orAborted(child.exited, signal);
    if (exitCode !== 0)
      throw new Error(`the program ended with ${child.signalCode ?? `exit code ${exitCode}`}`);
  } catch (error) {
    if (signal.aborted) throw new Error("the program took too long", { cause: error });
    throw error;
  } finally {
    killGroup(child.pid);
  }
}

function start(command: string[], { folder, env }: AlertCommand, body: string) {
  try {
    return Bun.spawn(command, {
      ...{ cwd: folder, env, stdin: Buffer.from(body), stdout: "ignore", stderr: "ignore" },
      // Its own group, which ends with it.
      detached: true,
    });
  } catch (error) {
    throw new Error(`the program cannot be started: ${reasonOf(error)}`, { cause: error });
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}
