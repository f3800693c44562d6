import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyFolder } from "../helpers/server.ts";
import { eventsOf } from "./power-calls.ts";
import { Disk, type Lost } from "./power-disk.ts";
import { type DecideEnding, decideInjection, endAtCall, type Injection } from "./syscalls-killer.ts";

/** Everything that can change a file or a name, or flush it. What a disk does not know ends the run. */
const TRACED =
  "openat,open,creat,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate,copy_file_range,sendfile,splice,lseek," +
  "fsync,fdatasync,sync_file_range,msync,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir";
/** Longer than anything that is written at once. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What each flush takes longer on a slow disk: the service has a thread wait for it then. */
const SLOW_DISK_US = 6_000;

/**
 * Ends servers at system calls that dice decide, then takes from the disk what was not flushed. The upstream inside the server counts
 * as another machine, which has power.
 */
export function createPowerCuts(): {
  readonly decide: DecideEnding;
  /** What all cuts took, and how many of them took anything. */
  readonly lost: () => Lost & { readonly cuts: number };
} {
  const lost = { writes: 0, names: 0, cuts: 0 };
  return {
    lost: () => lost,
    decide(dice, dataDir, during) {
      const upstream = join(dataDir, "sandbox");
      // With what it lies in: a first start makes it.
      const disk = new Disk(dirname(dataDir), (path) => path === upstream || path.startsWith(`${upstream}/`));
      const injection = decideInjection(dice, during);
      const trace = openTrace();
      return {
        injection,
        via: tracing(injection, dice.chance(0.5), trace.path),
        async end(server, outlived) {
          const hasCome = await endAtCall(server, outlived);
          for (const event of eventsOf(await trace.read())) disk.apply(event);
          const { writes, names } = disk.cut(dice);
          lost.writes += writes;
          lost.names += names;
          if (writes + names > 0) lost.cuts += 1;
          return hasCome;
        },
      };
    },
  };
}

function tracing({ call, count }: Injection, isSlow: boolean, path: string): string[] {
  const slowness =
    isSlow && call !== "fdatasync" ? ["-e", `inject=fdatasync:delay_enter=${SLOW_DISK_US}`] : [];
  return [
    ...["strace", "-D", "-f", "-qq", "-y", "-xx", "-s", String(MOST_BYTES), "-o", path],
    ...["-e", `trace=${TRACED},${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${count}`, ...slowness],
  ];
}

/** Where a tracer writes to. It ends some time after what it traces, which is when its pipe is closed. */
function openTrace() {
  const folder = emptyFolder("trace");
  const [pipe, file] = [join(folder, "pipe"), join(folder, "trace")];
  spawnSync("mkfifo", [pipe]);
  const reader = Bun.spawn(["cat", pipe], { stdout: Bun.file(file), stderr: "inherit" });
  return {
    path: pipe,
    async read(): Promise<string> {
      await reader.exited;
      const trace = readFileSync(file, "latin1");
      rmSync(folder, { recursive: true });
      return trace;
    },
  };
}
