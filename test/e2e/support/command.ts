import { svc as svcHere } from "../../cli/support.ts";
import { cleanEnvironment, emptyFolder, SVC } from "../../helpers/server.ts";

export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; nothing unless given. */
  readonly stdin?: string;
}

/** Runs one command of the executable in an empty folder with a clean environment. */
export async function svc(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const child = Bun.spawn([SVC, ...args], {
    cwd: options.folder ?? emptyFolder("command"),
    env: cleanEnvironment(options.env),
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** Runs a command that must succeed. @returns what it prints as JSON */
export async function svcJson(args: readonly string[], options: CommandOptions = {}): Promise<unknown> {
  const { exitCode, stdout, stderr } = await svc([...args, "--json"], options);
  if (exitCode !== 0) throw new Error(`svc ${args.join(" ")} ended with ${exitCode}.\n${stdout}${stderr}`);
  return JSON.parse(stdout);
}

/** Runs a command that a test only needs first, in this process: that takes a sixth of the time. @returns what it prints as JSON */
export async function arranged(args: readonly string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await svcHere([...args, "--json"], { env: cleanEnvironment() });
  if (exitCode !== 0) throw new Error(`svc ${args.join(" ")} ended with ${exitCode}.\n${stderr}`);
  return JSON.parse(stdout);
}

/** Makes an account with a credit and a key of it. @returns the key */
export async function prepaidKey(dataDir: string, name: string, credit: string): Promise<string> {
  await arranged([
    "accounts",
    "create",
    name,
    "--mode",
    "prepaid",
    "--credit",
    credit,
    "--data-dir",
    dataDir,
  ]);
  return keyIn(await arranged(["keys", "create", "--name", name, "--account", name, "--data-dir", dataDir]));
}

/** The API key in what a command printed. */
export function keyIn(printed: unknown): string {
  const key = /sk-svc-[0-9A-Za-z]{38}/.exec(
    typeof printed === "string" ? printed : JSON.stringify(printed),
  )?.[0];
  if (key === undefined) throw new Error("No key was printed.");
  return key;
}
