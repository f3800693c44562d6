import { cpSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Build } from "./build.ts";
import { type Core, freePort, onCore, runToEnd, stopProcess, track } from "./process.ts";

/** The caller's own settings of svc must not change what is measured. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_")),
);
const READY_WITHIN_MS = 20_000;
const ENOUGH_USD = "1000000";

/** A data folder at rest: accounts of both modes with a key each. */
export interface DataFolder {
  /** What made it, and serves it. */
  readonly build: Build;
  readonly path: string;
  readonly database: string;
  readonly unlimitedKey: string;
  readonly prepaidKey: string;
}

export interface Service {
  readonly port: number;
  readonly pid: number;
  readonly folder: DataFolder;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly core?: Core;
  /** Tasks between submission and end at once; 1 makes a single hanging task stop all others. */
  readonly concurrency?: number;
  /** Served from source, with an upstream inside it that costs next to nothing. */
  readonly isInstant?: boolean;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes a new data folder through the executable's own commands. */
export async function createDataFolder(build: Build, path: string): Promise<DataFolder> {
  mkdirSync(dirname(path), { recursive: true });
  const folder = { build, path, database: join(path, "svc.db"), unlimitedKey: "", prepaidKey: "" };
  const service = await startService(folder);
  await service.stop();
  const svc = async (...args: string[]) =>
    record(
      JSON.parse(
        await runToEnd([build.executable, ...args, "--data-dir", path, "--json"], { cwd: dirname(path) }),
      ),
    );
  const unlimited = await svc("keys", "create", "--name", "bench-unlimited");
  await svc("accounts", "create", "--name", "bench-prepaid", "--mode", "prepaid", "--credit", ENOUGH_USD);
  const prepaid = await svc("keys", "create", "--name", "bench-prepaid", "--account", "bench-prepaid");
  return { ...folder, unlimitedKey: String(unlimited.key), prepaidKey: String(prepaid.key) };
}

/** Makes a management token on a data folder. */
export async function createToken({ build, path }: DataFolder, name: string): Promise<string> {
  const command = [build.executable, "tokens", "create", "--name", name, "--data-dir", path, "--json"];
  return String(record(JSON.parse(await runToEnd(command, { cwd: dirname(path) }))).token);
}

/** Copies a data folder nobody is using. */
export function copyDataFolder(from: DataFolder, path: string): DataFolder {
  cpSync(from.path, path, { recursive: true });
  return { ...from, path, database: join(path, "svc.db") };
}

/** Starts the service on a folder with its usual settings, its log in a file, and waits until it is ready. */
export async function startService(folder: DataFolder, options: ServiceOptions = {}): Promise<Service> {
  const port = freePort();
  const { child, readyMs: _ } = await spawnService(folder.build, folder.path, port, options);
  return { port, pid: child.pid, folder, stop: () => stopProcess(child) };
}

/** @returns also how long it took from the start of the process until `/readyz` said 200 */
export async function spawnService(
  build: Build,
  dataDir: string,
  port: number,
  options: ServiceOptions = {},
) {
  const logPath = `${dataDir}.log`;
  const log = openSync(logPath, "a");
  const config = `${dataDir}.yaml`;
  writeFileSync(
    config,
    options.concurrency === undefined ? "{}\n" : `scheduler:\n  concurrency: ${options.concurrency}\n`,
  );
  const startedAt = performance.now();
  const child = track(
    Bun.spawn(
      onCore(options.core ?? "server", [
        ...(options.isInstant === true ? build.instantService : [build.executable, "serve"]),
        "--data-dir",
        dataDir,
        "--port",
        String(port),
        "--config",
        config,
      ]),
      {
        cwd: dirname(dataDir),
        env: { ...ENVIRONMENT, ...options.env },
        stdin: "ignore",
        stdout: log,
        stderr: log,
      },
    ),
  );
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    const readyMs = performance.now() - startedAt;
    await response?.arrayBuffer();
    if (response?.ok) return { child, readyMs };
    if (child.exitCode !== null || readyMs > READY_WITHIN_MS) {
      await stopProcess(child);
      throw new Error(`The service did not become ready. Its log:\n${readFileSync(logPath, "utf8")}`);
    }
    await Bun.sleep(1);
  }
}

/** One create through fetch, for preparations. @returns the task's id */
export async function createTask(service: Service, body: Readonly<Record<string, unknown>>): Promise<string> {
  const kind = body.model === "sandbox-video" ? "videos" : "images";
  const { task_id: id } = await call(service, `/v1/${kind}/generations`, body);
  return String(id);
}

/** A task's status, after waiting for its end up to `waitSec`. */
export async function readStatus(
  service: Service,
  task: string,
  waitSec: number,
  kind: "images" | "videos" = "images",
): Promise<string> {
  const { status } = await call(service, `/v1/${kind}/status/${task}?wait=${waitSec}`);
  return String(status);
}

/** A task that has the only slot of a service started with `concurrency: 1`, so that every later one waits. */
export interface HeldSlot {
  /** @throws Error when the slot is free, for then what was measured meanwhile is something else */
  requireHeld(): Promise<void>;
}

export async function holdSlot(service: Service): Promise<HeldSlot> {
  const task = await createTask(service, HANGING);
  const isHeld = async () => (await call(service, `/v1/videos/status/${task}`)).status === "processing";
  for (let tries = 0; !(await isHeld()); tries++) {
    if (tries === 500) throw new Error("The task that should hold the slot was not started.");
    await Bun.sleep(10);
  }
  return {
    async requireHeld() {
      if (!(await isHeld()))
        throw new Error("The task that held the slot is over; what was measured is void.");
    },
  };
}

/** @returns `data` of the answer */
async function call(
  { port, folder }: Service,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${folder.unlimitedKey}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = record(await response.json());
  if (!response.ok) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
  return record(answer.data);
}

/** An ordinary request, some 130 bytes. */
export const ORDINARY = {
  model: "sandbox-image",
  prompt: "a lighthouse at dusk, seen from the sea, with gulls around the lamp",
} as const;
/** Under way for the ten minutes a video may take. */
const HANGING = { ...ORDINARY, model: "sandbox-video", sandbox: { outcome: "hang" } } as const;
/** The smallest image at once; what the sandbox draws for it. */
export const SMALLEST = "the same 1×1 PNG each time";
export const TINY = { ...ORDINARY, size: "1x1", sandbox: { delay_ms: 0 } } as const;

function record(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`Expected a JSON object, got ${JSON.stringify(value)}`);
}
