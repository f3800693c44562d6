import type { SteadyClock } from "../../src/domain/ports/runtime.ts";

/** A process of the simulated machine. What a dead one waited for never comes. */
export interface Owner {
  isAlive: boolean;
}

interface Due {
  readonly at: number;
  readonly owner: Owner | undefined;
  readonly run: () => void;
}

/** Turns of the event loop without activity after which nothing more happens by itself. */
const QUIET_TURNS = 3;

/** What the system's clock says when simulations begin. */
export const STARTS_AT = 1_800_000_000_000;

/** Turns after which something goes round in circles. */
const MOST_TURNS = 200_000;

export type World = ReturnType<typeof createWorld>;

/** A machine whose time is simulated: true time, the clock of its system, and everything that waits for a time. */
export function createWorld(startsAt: number) {
  let trueMs = 0;
  let systemMs = startsAt;
  let frozenUntil = 0;
  let activity = 0;
  let underWay = 0;
  const waiting: Due[] = [];

  function at(time: number, run: () => void, owner?: Owner): () => void {
    const due: Due = { at: Math.max(time, trueMs), owner, run };
    let low = 0;
    for (let high = waiting.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((waiting[middle]?.at ?? 0) <= due.at) low = middle + 1;
      else high = middle;
    }
    waiting.splice(low, 0, due);
    return () => {
      const index = waiting.indexOf(due);
      if (index >= 0) waiting.splice(index, 1);
    };
  }

  /** Lets what was begun go on until all of it waits for a time. */
  async function settle(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns++) {
      if (turns > MOST_TURNS) throw new Error(`What begins at ${trueMs} ms goes on without end.`);
      const before = activity;
      await new Promise((resolve) => setImmediate(resolve));
      quiet = activity === before && underWay === 0 ? quiet + 1 : 0;
    }
  }

  return {
    at,
    /** Since the simulation began. */
    trueMs: () => trueMs,
    /** Sets the system's clock. */
    step(byMs: number): void {
      systemMs += byMs;
    },
    /** Nothing of any process runs for so long, as after SIGSTOP. */
    freeze(forMs: number): void {
      frozenUntil = Math.max(frozenUntil, trueMs + forMs);
    },
    /** How much longer nothing runs; 0 while processes run. */
    frozenMs: () => Math.max(0, frozenUntil - trueMs),
    /** Tells that something happens without waiting for a time. */
    async doing<T>(work: () => Promise<T>): Promise<T> {
      activity += 1;
      underWay += 1;
      try {
        return await work();
      } finally {
        activity += 1;
        underWay -= 1;
      }
    },
    /** The clock of a process. */
    clockOf(owner: Owner): SteadyClock {
      let offsetMs = systemMs;
      return {
        now: () => offsetMs + trueMs,
        elapsed: () => trueMs,
        after: (delayMs, run) => at(trueMs + Math.max(0, Math.ceil(delayMs)), run, owner),
        behindMs: () => systemMs - offsetMs,
        jump(byMs) {
          offsetMs += byMs;
        },
      };
    },
    /** Lets time pass until the end, or until nothing waits. */
    async run(untilMs: number): Promise<void> {
      await settle();
      for (;;) {
        const due = waiting.shift();
        if (due === undefined || due.at > untilMs) return;
        if (due.owner?.isAlive === false) continue;
        if (due.owner !== undefined && due.at < frozenUntil) {
          at(frozenUntil, due.run, due.owner);
          continue;
        }
        trueMs = due.at;
        due.run();
        await settle();
      }
    },
  };
}
