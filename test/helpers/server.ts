import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { currentExecutable } from "../../cli/dev/executable.ts";
import { markBytes } from "../../src/domain/disk-marks.ts";
import { freePort } from "./free-port.ts";
import { isAlive, remove } from "./leftovers.ts";

/** The compiled program under test; built now where that is due. */
export const SVC = currentExecutable();

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 40_000;
const SAYS_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 5;

export interface ServerOptions {
  /** The folder it runs in; a new empty one unless given. */
  readonly folder?: string;
  /** `svc-data` in the folder, the program's own default, unless given. */
  readonly dataDir?: string;
  readonly port?: number;
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its output goes, as the files `stdout` and `stderr`. */
  readonly logs?: string;
  /** A command, with its arguments, that replaces itself with the server's. */
  readonly via?: readonly string[];
}

/** A running `svc serve`. It is only ever signalled by its own process id. */
export interface Server {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly dataDir: string;
  readonly pid: number;
  /** `performance.now()` when the process was started. */
  readonly startedAtMs: number;
  /** Exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  hasExited(): boolean;
  /** The key of the first run, from `bootstrap.json`. */
  firstKey(): string;
  stdout(): string;
  stderr(): string;
  signal(name: "SIGTERM" | "SIGKILL" | "SIGINT"): void;
  /** Resolves once `/readyz` says so, and the first run's key is there. @throws Error when it ends before, or takes too long */
  ready(): Promise<void>;
  /** The first line of its output that fits. @throws Error when there is none within a few seconds */
  says(pattern: RegExp): Promise<string>;
  /** SIGINT, then waits for the end; SIGKILL when there is none. @returns its exit code */
  stop(): Promise<number | null>;
}

const running = new Set<Server>();
const ROOT_PREFIX = "svc-test-";
let root: string | undefined;
let home: string | undefined;

/** Where this process keeps its folders. Removed when it ends; the test runner tells nobody of its end, so the next run looks. */
function rootFolder(): string {
  if (root !== undefined) return root;
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^svc-test-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) remove(join(tmpdir(), name));
  }
  const folder = mkdtempSync(join(tmpdir(), `${ROOT_PREFIX}${process.pid}-`));
  process.once("exit", () => {
    for (const server of running) server.signal("SIGKILL");
    if (root !== undefined) remove(root);
  });
  root = folder;
  return folder;
}

/** A new empty folder, removed when the run is over. */
export function emptyFolder(name = "folder"): string {
  return mkdtempSync(join(rootFolder(), `${name}-`));
}

/** Leaves what this process has made where it is. */
export function keepFolders(): void {
  root = undefined;
}

/** Ends every server that a test of this process left running. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()));
}

/** A home for every process a test run starts: native libraries are extracted there once. */
function testHome(): string {
  home ??= emptyFolder("home");
  return home;
}

/** Options of the JavaScript engine and of its memory that the run was started with (package.json). What it starts lives briefly too, so it compiles less and gives no memory back. */
const ofEngine = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = ""]) =>
    name.startsWith("BUN_JSC_") || name.startsWith("MIMALLOC_") ? [[name, value]] : [],
  ),
);

/** Nothing of the developer's environment but the path. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const usual = { PATH: process.env.PATH ?? "", HOME: testHome(), TMPDIR: tmpdir(), TZ: "UTC" };
  return { ...usual, ...ofEngine, ...onFullDisk(), ...extra };
}

/** Nothing, but on a machine whose disk is nearly full, where servers would refuse what tests ask for. */
function onFullDisk(): Record<string, string> {
  const { bavail, blocks, bsize } = statfsSync(tmpdir());
  const isFull = bavail * bsize < 1.5 * markBytes("auto", "warn", blocks * bsize);
  return isFull ? { SVC_DISK_WARN_MB: "off", SVC_DISK_REFUSE_MB: "off" } : {};
}

/** Starts a server and waits until it is ready. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const server = spawnServer(options);
  await server.ready();
  return server;
}

/** Starts a server without waiting for anything. */
export function spawnServer(options: ServerOptions = {}): Server {
  const folder = options.folder ?? emptyFolder("server");
  const dataDir = options.dataDir ?? join(folder, "svc-data");
  const port = options.port ?? freePort();
  const logs = options.logs ?? emptyFolder("log");
  const explicit = options.dataDir === undefined ? [] : ["--data-dir", dataDir];
  const isFirstRun = !existsSync(join(dataDir, "svc.db"));
  const startedAtMs = performance.now();
  const serve = [SVC, "serve", "--port", String(port), ...explicit, ...(options.args ?? [])];
  const child = spawnLogged([...(options.via ?? []), ...serve], {
    folder,
    logs,
    env: cleanEnvironment(options.env),
  });
  const exited = child.exited.then(() => child.exitCode);
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const url = `http://127.0.0.1:${port}`;
  const server: Server = {
    url,
    port,
    folder,
    dataDir,
    pid: child.pid,
    startedAtMs,
    exited,
    hasExited,
    firstKey: () => firstKeyOf(dataDir),
    stdout: () => read(join(logs, "stdout")),
    stderr: () => read(join(logs, "stderr")),
    signal: (name) => void (hasExited() || child.kill(name)),
    ready: () => untilReady(server, isFirstRun),
    says: (pattern) => untilSaid(server, pattern),
    async stop() {
      // SIGTERM would make it listen on for a while.
      server.signal("SIGINT");
      const timer = setTimeout(() => server.signal("SIGKILL"), STOP_WITHIN_MS);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
  running.add(server);
  void exited.then(() => running.delete(server));
  return server;
}

/** Output goes to files, so that a server nobody reads from is never held up. */
function spawnLogged(
  command: string[],
  options: { folder: string; logs: string; env: Record<string, string> },
): Subprocess {
  const [stdout, stderr] = ["stdout", "stderr"].map((name) => openSync(join(options.logs, name), "a"));
  try {
    const { folder: cwd, env } = options;
    return Bun.spawn(command, {
      cwd,
      env,
      stdin: "ignore",
      stdout: stdout ?? "ignore",
      stderr: stderr ?? "ignore",
    });
  } finally {
    for (const file of [stdout, stderr]) if (file !== undefined) closeSync(file);
  }
}

async function untilReady(server: Server, isFirstRun: boolean): Promise<void> {
  const isReady = async () => {
    const response = await fetch(`${server.url}/readyz`, { keepalive: false }).catch(() => undefined);
    return response?.status === 200 && (!isFirstRun || existsSync(keyFileOf(server.dataDir)));
  };
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline && !server.hasExited()) {
    if (await isReady()) return;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
  const state = server.hasExited() ? "ended" : "is not ready";
  throw new Error(`The server ${state}.\n${server.stdout()}${server.stderr()}`);
}

async function untilSaid(server: Server, pattern: RegExp): Promise<string> {
  const deadline = performance.now() + SAYS_WITHIN_MS;
  for (;;) {
    const output = server.stdout() + server.stderr();
    const line = output.split("\n").find((each) => pattern.test(each));
    if (line !== undefined) return line;
    if (performance.now() > deadline) throw new Error(`The server never said ${pattern}:\n${output}`);
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}

const keyFileOf = (dataDir: string) => join(dataDir, "bootstrap.json");

function firstKeyOf(dataDir: string): string {
  const file = keyFileOf(dataDir);
  const content: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  const key = JSON.stringify(content ?? "").match(/sk-svc-[0-9A-Za-z]+/)?.[0];
  if (key === undefined) throw new Error(`There is no first key in ${file}.`);
  return key;
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
