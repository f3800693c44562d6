import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Timing } from "../../cli/client/retry.ts";
import type { Context, Sink, Source } from "../../cli/context.ts";
import { runProgram } from "../../cli/program.ts";

const MAIN = join(import.meta.dir, "../../cli/main.ts");

export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Starts the program as a process of its own, with nothing of the developer's environment but the path. */
export function spawnSvc(
  args: readonly string[],
  { cwd = emptyFolder(), env = {}, stdin = "" }: RunOptions = {},
) {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    cwd,
    env: { ...environment(), ...env },
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
}

const environment = () => ({ PATH: process.env.PATH ?? "", HOME: tmpdir() });

/** Runs one command line to its end: in this process, which is cheaper. */
export async function svc(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { cwd = emptyFolder(), env = {}, stdin } = options;
  const context = fakeContext({ cwd, env: { ...environment(), ...env }, piped: stdin });
  const exitCode = await runProgram(args, context);
  return { exitCode, stdout: context.stdout.text(), stderr: context.stderr.text() };
}

/** A new folder, removed when the test run ends. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-cli-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a command writes to, remembered. */
export interface FakeSink extends Sink {
  text(): string;
  bytes(): Uint8Array;
}

export function fakeSink(options: { isTerminal?: boolean; columns?: number } = {}): FakeSink {
  let written = Buffer.alloc(0);
  const take = (more: string | Uint8Array) => {
    written = Buffer.concat([written, typeof more === "string" ? Buffer.from(more) : more]);
  };
  return {
    isTerminal: options.isTerminal ?? false,
    columns: options.columns,
    write: take,
    writeBytes: async (bytes) => take(bytes),
    text: () => written.toString("utf8"),
    bytes: () => written,
  };
}

/** Standard input: a terminal on which somebody types these lines, or a pipe with what is given, or nothing. */
function fakeSource(typed?: readonly string[], piped = ""): Source {
  const lines = [...(typed ?? [])];
  let pipe = new Blob([piped]);
  const taken = () => {
    const all = pipe;
    pipe = new Blob([]);
    return all;
  };
  return {
    isTerminal: typed !== undefined,
    readLine: async () => lines.shift(),
    async *readLines() {
      yield* (await taken().text()).split("\n");
    },
    // Whoever reads it again finds it empty, as a pipe is.
    readAll: () => taken().bytes(),
    readText: () => taken().text(),
  };
}

export interface FakeContextOptions {
  readonly isTerminal?: boolean;
  readonly columns?: number;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly typed?: readonly string[];
  readonly piped?: string | undefined;
}

/** A process as a command sees it, on a terminal or off one. */
export function fakeContext(options: FakeContextOptions = {}) {
  const { isTerminal = false, columns = 80, env = {}, cwd = "/nowhere" } = options;
  const terminal = isTerminal ? { isTerminal, columns } : {};
  const [stdout, stderr] = [fakeSink(terminal), fakeSink(terminal)];
  const context = {
    env,
    cwd,
    stdin: fakeSource(options.typed, options.piped),
    stdout,
    stderr,
    giveWay() {},
    interruptible: () => new AbortController().signal,
  } satisfies Context;
  return context;
}

/** A clock that sleeping moves. */
export function fakeTiming(): Timing & { readonly slept: number[] } {
  let nowMs = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => nowMs,
    random: () => 1,
    async sleep(ms) {
      slept.push(ms);
      nowMs += ms;
    },
  };
}
