import { resolve } from "node:path";
import { isJsonObject } from "../domain/json.ts";
import type { Check, CheckVerdict } from "../domain/ports/moderation.ts";
import { type After, orAborted } from "../toolkit/deadline.ts";
import { reasonOf } from "../toolkit/system-error.ts";
import { type AskedOptions, askedCheck, NoVerdict, reasonIn } from "./asked.ts";

export interface CommandOptions extends AskedOptions {
  /** The program and its arguments. No shell reads them. */
  readonly run: readonly string[];
  /** The folder it runs in. */
  readonly folder: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Most of a verdict that is read. */
const MOST_BYTES = 64 * 1024;

/**
 * A check that runs a program of the operator's for each request: it reads the texts as JSON from standard input, and writes its verdict as JSON.
 * With all that it started, it ends when it has answered, or its time is up.
 */
export function commandCheck(options: CommandOptions, deps: { readonly after: After }): Check {
  const command = [programOf(options), ...options.run.slice(1)];
  return askedCheck(options, deps, async ({ kind, model, accountId, keyId, texts }, signal) => {
    const input = JSON.stringify({ kind, model, account: accountId, key: keyId, texts });
    return verdictIn(await run(command, options, input, signal));
  });
}

/** Where the program is. @returns undefined where there is none */
export function findProgram(options: Pick<CommandOptions, "run" | "folder" | "env">): string | undefined {
  return Bun.which(programOf(options), { PATH: options.env.PATH ?? "", cwd: options.folder }) ?? undefined;
}

/** A program with a path starts from the folder; one without is looked for in PATH. */
function programOf({ run: [program = ""], folder }: Pick<CommandOptions, "run" | "folder">): string {
  return program.includes("/") ? resolve(folder, program) : program;
}

/** Runs a command to its end. @returns what it wrote */
async function run(
  command: string[],
  { folder, env }: CommandOptions,
  input: string,
  signal: AbortSignal,
): Promise<string> {
  const child = start(command, { folder, env, input });
  const kill = () => killGroup(child.pid);
  signal.addEventListener("abort", kill, { once: true });
  // What it left behind may hold the output open.
  void child.exited.then(kill);
  const reader = child.stdout.getReader();
  try {
    // So may what left its group, until the time is up.
    const output = await orAborted(readOutput(reader), signal);
    const exitCode = await orAborted(child.exited, signal);
    if (exitCode !== 0) throw new NoVerdict(`ended with ${child.signalCode ?? `exit code ${exitCode}`}`);
    return output;
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
    reader.cancel().catch(() => undefined);
  }
}

function start(
  command: string[],
  { folder, env, input }: { folder: string; env: CommandOptions["env"]; input: string },
) {
  try {
    return Bun.spawn(command, {
      ...{ cwd: folder, env, stdin: Buffer.from(input), stdout: "pipe" },
      // It may contain parts of texts, which must not be logged.
      stderr: "ignore",
      // Its own group, which ends with it.
      detached: true,
    });
  } catch (error) {
    throw new NoVerdict(`cannot be started: ${reasonOf(error)}`, { cause: error });
  }
}

/** Ends a program and all that it started and that did not leave its group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}

interface Pieces {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function readOutput(reader: Pieces): Promise<string> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return Buffer.concat(pieces).toString("utf8");
    sizeBytes += value.length;
    if (sizeBytes > MOST_BYTES) throw new NoVerdict(`wrote more than ${MOST_BYTES / 1024} KB`);
    pieces.push(value);
  }
}

function verdictIn(output: string): CheckVerdict {
  let verdict: unknown;
  try {
    verdict = JSON.parse(output);
  } catch {
    throw new NoVerdict("wrote what is no JSON");
  }
  if (!isJsonObject(verdict) || typeof verdict.allowed !== "boolean")
    throw new NoVerdict('wrote no {"allowed": true} or {"allowed": false}');
  return verdict.allowed ? { kind: "allowed" } : { kind: "refused", rule: reasonIn(verdict.reason) };
}
