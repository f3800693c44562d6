import type { Server } from "../helpers/server.ts";
import type { Dice } from "./dice.ts";
import { createDice } from "./dice.ts";
import type { Killer } from "./killer.ts";

/**
 * The system calls at which a kill can matter: those that change files, flush them, or answer a caller. Each with the highest
 * count at which the kill may fall: about as many as one thread makes in a start, and in a start and a second or two of work.
 */
const MOST_CALLS = {
  pwrite64: { start: 190, serving: 2_000 },
  fsync: { start: 15, serving: 250 },
  fdatasync: { start: 3, serving: 250 },
  write: { start: 5, serving: 150 },
  sendto: { start: 1, serving: 60 },
  openat: { start: 40, serving: 250 },
  close: { start: 40, serving: 250 },
  rename: { start: 1, serving: 40 },
  unlink: { start: 1, serving: 40 },
  ftruncate: { start: 2, serving: 12 },
  mkdir: { start: 1, serving: 24 },
} as const;
export type SystemCall = keyof typeof MOST_CALLS;
const SYSTEM_CALLS = Object.keys(MOST_CALLS) as [SystemCall, ...SystemCall[]];

/** A kill at the `count`-th call of its kind in any one thread, before the call takes effect. */
export interface Injection {
  readonly call: SystemCall;
  readonly count: number;
}

/** Whether this machine lets processes be traced. */
export function canTrace(): boolean {
  const strace = Bun.which("strace");
  return (
    strace !== null &&
    Bun.spawnSync([strace, "-D", "-f", "-o", "/dev/null", "-e", "trace=none", "true"]).success
  );
}

/** Early calls as often as all later ones of ten times the count: starts make few calls, and each of them matters. */
export function decideInjection(dice: Dice, during: "start" | "serving"): Injection {
  const call = dice.pick(SYSTEM_CALLS);
  const most = MOST_CALLS[call][during];
  const count = Math.floor(Math.exp(dice.next() * Math.log(most + 1)));
  return { call, count: Math.max(1, Math.min(most, count)) };
}

/**
 * The command that starts a process which is killed at the call. The tracer is a grandchild, so that the process keeps its place
 * and its id.
 */
export function injecting({ call, count }: Injection): string[] {
  const inject = `inject=${call}:signal=SIGKILL:when=${count}`;
  return ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
}

/** A server in use ends after so long if the call does not come. */
const LIVES_AT_MOST_MS = 2_500;
const OUTLIVED = "at no call";

/** Waits until a server that was started to be killed at a call has ended; kills it when `outlived`. @returns whether the call came */
export async function endAtCall(server: Server, outlived: Promise<unknown>): Promise<boolean> {
  const exit = await Promise.race([server.exited, outlived.then(() => OUTLIVED)]);
  if (typeof exit === "number")
    throw new Error(`The server ended by itself with ${exit}.\n${server.stderr().slice(-4_000)}`);
  server.signal("SIGKILL");
  await server.exited;
  return exit === null;
}

/** How one server is ended at a system call. */
export interface Ending {
  readonly injection: Injection;
  /** A command that the server is started with. */
  readonly via: readonly string[];
  /** Waits for the end, like `endAtCall`. */
  end(server: Server, outlived: Promise<unknown>): Promise<boolean>;
}

/** Decides how the server that is started next in a folder is ended. */
export type DecideEnding = (dice: Dice, dataDir: string, during: "start" | "serving") => Ending;

/** It is killed, and its folder stays as it is. */
export const decideKill: DecideEnding = (dice, _, during) => {
  const injection = decideInjection(dice, during);
  return { injection, via: injecting(injection), end: endAtCall };
};

/** Ends servers at system calls that dice decide. */
export function createSyscallKiller(seed: number, decide: DecideEnding): Killer {
  const dice = createDice(seed, "system calls");
  return {
    kinds: [...SYSTEM_CALLS, OUTLIVED],
    next(dataDir) {
      const { injection, via, end } = decide(dice, dataDir, "serving");
      return {
        via,
        end: async (server) =>
          (await end(server, Bun.sleep(LIVES_AT_MOST_MS)))
            ? { kind: injection.call }
            : { kind: OUTLIVED, hasMissed: true },
      };
    },
  };
}
