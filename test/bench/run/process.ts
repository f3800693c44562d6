import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Subprocess } from "bun";

/** Servers run on one core and the load generator on another, the same for both sides of a comparison. */
export type Core = "server" | "client" | "any";

const TASKSET = Bun.which("taskset");
const CORES = cpus().length;
const STOP_WITHIN_MS = 20_000;

/** Whether processes are bound to cores here. */
export const isPinned = TASKSET !== null && CORES >= 2;

/** `command`, bound to a core where that can be done. The process id stays that of the command. */
export function onCore(core: Core, command: readonly string[]): string[] {
  if (core === "any" || TASKSET === null || CORES < 2) return [...command];
  return [TASKSET, "-c", core === "server" ? "0" : "1", ...command];
}

const started = new Set<Subprocess>();

/** Remembers a process that was started here, until it ends. */
export function track<T extends Subprocess>(child: T): T {
  started.add(child);
  void child.exited.then(() => started.delete(child));
  return child;
}

/** Ends every process started here at once; for a run that is broken off. */
export function killAll(): void {
  for (const child of started) child.kill("SIGKILL");
}

/** Asks a process to end, and makes it end when it does not. */
export async function stopProcess(child: Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
  await child.exited;
  clearTimeout(timer);
}

/** Runs a command to its end. @throws Error with what it said when it fails, or takes longer than it may */
export async function runToEnd(
  command: string[],
  { cwd, timeoutMs }: { readonly cwd: string; readonly timeoutMs?: number },
): Promise<string> {
  const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  const child = track(
    Bun.spawn(command, { cwd, ...timeout, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
  );
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}.\n${stdout}${stderr}`);
  return stdout;
}

/** As many different ports that nobody listens at. */
export function freePorts(count: number): number[] {
  const listeners = Array.from({ length: count }, () =>
    Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } }),
  );
  // Given back when all are known: one given back at once may be had again.
  for (const listener of listeners) listener.stop(true);
  return listeners.map(({ port }) => port);
}

export function freePort(): number {
  const [port] = freePorts(1);
  if (port === undefined) throw new Error("The system gave no port.");
  return port;
}

/** Memory of a process held in RAM, in MB (10^6 bytes): now, and at its highest. Undefined where /proc has no answer. */
export function memoryMb(pid: number): { now: number; highest: number } | undefined {
  const status = readProc(pid, "status");
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status ?? "")?.[1];
  const [now, highest] = [field("VmRSS"), field("VmHWM")];
  if (now === undefined || highest === undefined) return undefined;
  return { now: (Number(now) * 1024) / 1e6, highest: (Number(highest) * 1024) / 1e6 };
}

/** Processor time used by a process and all its threads so far, in ms. Resolution 10 ms. */
export function cpuMs(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  // Field 2 is the name in brackets, which may hold spaces; 14 and 15 are user and system time in ticks of 10 ms.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields?.[11], fields?.[12]];
  return user === undefined || system === undefined ? undefined : (Number(user) + Number(system)) * 10;
}

/** Bytes a process caused to be sent to the disk so far. */
export function writtenBytes(pid: number): number | undefined {
  const match = /^write_bytes: (\d+)/m.exec(readProc(pid, "io") ?? "");
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // Not Linux, or not allowed: the figure is left out.
    return undefined;
  }
}
