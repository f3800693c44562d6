import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { emptyFolder } from "../helpers/server.ts";
import type { Chosen } from "./options.ts";

/** The engine that is driven. What kills it, or reads its log, is there for our own alone. */
export interface Engine {
  readonly address: string;
  /** It was started here, so it may be killed, and its log can be read. */
  readonly isOurs: boolean;
  /** Starts the process; it loads its model then. @param memoryKb the most address space that it gets */
  spawn(memoryKb?: number): void;
  /** Whether the process runs; true of one elsewhere. */
  isRunning(): boolean;
  /** Resolves once it answers. @throws Error when it ends before, or takes too long */
  ready(): Promise<void>;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  /** What it has said so far. */
  log(): string;
  /** Pictures or batches that it has begun to make since a place in its log. */
  begun(since: number): number;
  /** The end of its log now. */
  mark(): number;
  /** Resolves when it has said this since a place in its log. @throws Error when it does not */
  said(pattern: RegExp, since: number): Promise<void>;
}

const READY_WITHIN_MS = 300_000;
const SAYS_WITHIN_MS = 300_000;
const LOOK_AGAIN_MS = 20;
/** Characters of its log in an error. */
const SHOWN = 300;
/** What it says when it takes up a request. */
export const BEGINS = /generate_image \d+x\d+/;
/** Several, so that the strength of an edit makes a difference; one thread, as other work goes on here. */
const FLAGS = ["-W", "64", "-H", "64", "--steps", "4", "--cfg-scale", "1", "-t", "1", "-v"];

export function createEngine(chosen: Chosen): Engine {
  return chosen.kind === "own" ? ownEngine(chosen) : engineElsewhere(chosen.address);
}

function ownEngine({ program, model }: Chosen & { kind: "own" }): Engine {
  const port = enginePort();
  const folder = emptyFolder("engine");
  const logFile = join(folder, "log");
  const address = `http://127.0.0.1:${port}`;
  let child: Subprocess | undefined;
  process.once("exit", () => child?.kill("SIGKILL"));
  const log = () => (existsSync(logFile) ? readFileSync(logFile, "utf8") : "");
  const hasEnded = () => child === undefined || child.exitCode !== null || child.signalCode !== null;
  return {
    address,
    isOurs: true,
    isRunning: () => !hasEnded(),
    spawn(memoryKb) {
      if (!hasEnded()) throw new Error("The engine runs already.");
      const listens = ["--listen-ip", "127.0.0.1", "--listen-port", String(port)];
      const limit = memoryKb === undefined ? "" : `ulimit -v ${memoryKb}; `;
      const command = [program, "-m", model, "--lora-model-dir", folder, ...listens, ...FLAGS];
      const output = openSync(logFile, "a");
      child = Bun.spawn(["sh", "-c", `${limit}exec nice -n 15 "$@"`, "sh", ...command], {
        cwd: folder,
        stdin: "ignore",
        stdout: output,
        stderr: output,
      });
      closeSync(output);
    },
    async ready() {
      const deadline = performance.now() + READY_WITHIN_MS;
      while (performance.now() < deadline && !hasEnded()) {
        if (await answers(address)) return;
        await Bun.sleep(LOOK_AGAIN_MS);
      }
      throw new Error(`The engine ${hasEnded() ? "ended" : "does not answer"}.\n${log().slice(-SHOWN)}`);
    },
    async kill() {
      child?.kill("SIGKILL");
      await child?.exited;
    },
    log,
    begun: (since) => log().slice(since).match(new RegExp(BEGINS, "g"))?.length ?? 0,
    mark: () => log().length,
    async said(pattern, since) {
      const deadline = performance.now() + SAYS_WITHIN_MS;
      while (!pattern.test(log().slice(since))) {
        if (performance.now() > deadline || hasEnded())
          throw new Error(`The engine never said ${pattern}.\n${log().slice(-SHOWN)}`);
        await Bun.sleep(LOOK_AGAIN_MS);
      }
    },
  };
}

function engineElsewhere(address: string): Engine {
  const cannot = (): never => {
    throw new Error("That engine was started by somebody else.");
  };
  return {
    ...{ address, isOurs: false, spawn: cannot, kill: cannot, log: () => "", begun: () => 0, mark: () => 0 },
    isRunning: () => true,
    async ready() {
      if (!(await answers(address))) throw new Error(`No engine answers at ${address}.`);
    },
    said: cannot,
  };
}

const PORTS = { from: 10_000, count: 2_000 };

/** A free port apart from those of servers under test, so that nobody takes it while the engine is dead. */
function enginePort(): number {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Taken: try another one.
    }
  }
}

async function answers(address: string): Promise<boolean> {
  const response = await fetch(`${address}/v1/models`, { keepalive: false }).catch(() => undefined);
  return response?.ok === true;
}
