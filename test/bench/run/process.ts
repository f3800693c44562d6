import { dlopen, ptr } from "bun:ffi";
import { readdirSync, readFileSync } from "node:fs";
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

/**
 * User and system time used so far by a process, all its threads and its descendants, in ms. Resolution 10 ms. Descendants that
 * have ended count once their parent has noticed.
 */
export function cpuMs(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // Field 2 is the name in brackets, which may hold spaces; 14 to 17 are user and system time, its own and that of children that
  // have ended, in ticks of 10 ms.
  const ticks = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15);
  const own = ticks.reduce((sum, each) => sum + Number(each) * 10, 0);
  return childrenOf(pid).reduce((sum, child) => sum + (cpuMs(child) ?? 0), own);
}

/** As `prctl(2)` has it. */
const SET_CHILD_SUBREAPER = 36;

/**
 * Makes this process the parent of descendants whose own parent has ended, so that `cpuMs` goes on to count them: a browser ends
 * before its processes do. Does nothing where the system cannot.
 */
export function adoptOrphans(): void {
  if (process.platform !== "linux") return;
  try {
    const { symbols } = dlopen("libc.so.6", {
      prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    });
    symbols.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  } catch {
    // There is no glibc: what orphans use counts as that of others.
  }
}

type ReadClock = (clock: number, time: Parameters<typeof ptr>[0]) => number;

let readClock: ReadClock | undefined;

/** The system's own reader of clocks. @throws where there is no glibc */
function openClock(): ReadClock {
  const { symbols } = dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } });
  return (clock, time) => symbols.clock_gettime(clock, ptr(time));
}

/**
 * User and system time used so far by a process and all its threads, in µs and as exactly as the scheduler knows it. Its children do
 * not count. Undefined where the system does not tell.
 */
export function ownCpuUs(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const time = new BigInt64Array(2);
  try {
    readClock ??= openClock();
    // A process's clock has a number that follows from its id (clock_getcpuclockid(3)).
    if (readClock((~pid << 3) | 2, time) !== 0) return undefined;
  } catch {
    return undefined;
  }
  const [seconds = 0n, nanoseconds = 0n] = time;
  return Number(seconds) * 1e6 + Number(nanoseconds) / 1e3;
}

/** Living children. None where the kernel does not list them. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      (readProc(pid, `task/${thread}/children`) ?? "").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    // The process has ended meanwhile.
    return [];
  }
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
