import type { Server } from "../helpers/server.ts";
import { createDice, type Dice } from "./dice.ts";

/** When the next kill falls. */
export type Kill =
  /** While it starts or takes up what was left: so long after the process was made, ready or not. */
  | { readonly kind: "starting"; readonly afterMs: number }
  /** So long after it was ready, and then while a create is on its way or just being answered. */
  | { readonly kind: "creating"; readonly afterMs: number; readonly laterMs: number }
  /** So long after it was ready. */
  | { readonly kind: "serving"; readonly afterMs: number }
  /** While it drains: SIGTERM, and so long after it SIGKILL. */
  | { readonly kind: "draining"; readonly afterMs: number; readonly drainMs: number };

export interface Lifetime {
  readonly minMs: number;
  readonly maxMs: number;
}

export function decideKill(dice: Dice, lifetime: Lifetime): Kill {
  const afterMs = dice.between(lifetime.minMs, lifetime.maxMs);
  const draw = dice.next();
  const drainMs = dice.between(0, 250);
  const startingMs = dice.between(10, 250);
  const laterMs = dice.next() * 6;
  if (draw < 0.15) return { kind: "starting", afterMs: startingMs };
  if (draw < 0.3) return { kind: "draining", afterMs, drainMs };
  if (draw < 0.6) return { kind: "creating", afterMs, laterMs };
  return { kind: "serving", afterMs };
}

export interface Killed {
  readonly kill: Kill;
  /** From the start of the process; absent when it was killed before. */
  readonly readyInMs?: number;
  /** It was gone before the kill: null unless it ended by itself. */
  readonly exitCode: number | null;
}

/** Lets the server live as decided, then ends it. @throws Error when it does not become ready */
export async function liveAndDie(
  server: Server,
  kill: Kill,
  nextCreate: () => Promise<void>,
): Promise<Killed> {
  let readyInMs: number | undefined;
  if (kill.kind === "starting") {
    await Bun.sleep(kill.afterMs);
  } else {
    await server.ready();
    readyInMs = performance.now() - server.startedAtMs;
    await Bun.sleep(kill.afterMs);
  }
  if (kill.kind === "creating") {
    await nextCreate();
    spin(kill.laterMs);
  }
  if (server.hasExited()) throw new Error(`The server ended by itself.\n${server.stderr().slice(-4_000)}`);
  if (kill.kind === "draining") {
    server.signal("SIGTERM");
    await Promise.race([server.exited, Bun.sleep(kill.drainMs)]);
  }
  server.signal("SIGKILL");
  const exitCode = await server.exited;
  if (exitCode !== null && exitCode !== 0) {
    throw new Error(`The server ended with exit code ${exitCode}.\n${server.stderr().slice(-4_000)}`);
  }
  return { kill, exitCode, ...(readyInMs === undefined ? {} : { readyInMs }) };
}

/** How the server of one round is started and ended. */
export interface Round {
  /** A command that the server is started with, which replaces itself with the server's. */
  readonly via?: readonly string[];
  /** Lets the server live, then ends it. */
  end(server: Server, nextCreate: () => Promise<void>): Promise<Ended>;
}

export interface Ended {
  /** One of the killer's kinds. */
  readonly kind: string;
  /** From the start of the process, if it became ready. */
  readonly readyInMs?: number;
  /** The event that the kill was aimed at never came. */
  readonly hasMissed?: true;
}

/** Decides how each server of a run ends. */
export interface Killer {
  /** The kinds of kills, in the order of a report. */
  readonly kinds: readonly string[];
  /** @param dataDir of the server that is started next */
  next(dataDir: string): Round;
}

/** Kills at moments that dice decide: while starting, serving, answering a create, or draining. */
export function createTimedKiller(seed: number, lifetime: Lifetime): Killer {
  const dice = createDice(seed, "kills");
  return {
    kinds: ["starting", "creating", "serving", "draining"] satisfies Kill["kind"][],
    next() {
      const decided = decideKill(dice, lifetime);
      return {
        async end(server, nextCreate) {
          const { kill, exitCode: _, ...rest } = await liveAndDie(server, decided, nextCreate);
          return { kind: kill.kind, ...rest };
        },
      };
    },
  };
}

/** Finer than any timer, so that a kill can fall between a commit and its answer. */
export function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
