import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import { createDice, type Dice } from "./dice.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Accounts, what can be asked of their upstreams, and what becomes of a task that is sent twice. */
export const LANES = [
  { provider: "alpha", lane: "alpha", isAsked: true, isSafe: false },
  { provider: "alpha", lane: "alpha/second", isAsked: true, isSafe: false },
  // It takes no key, and cannot be asked what became of an attempt.
  { provider: "beta", lane: "beta", isAsked: false, isSafe: false },
  { provider: "engine", lane: "engine", isAsked: false, isSafe: true },
] as const satisfies readonly { provider: string; lane: string; isAsked: boolean; isSafe: boolean }[];
export type Place = (typeof LANES)[number];
export const laneOf = ({ lane }: Place) => lane as string as LaneId;
export const providerOf = ({ provider }: Place) => provider as string as ProviderId;

/** What an account does while it is not well, and how long that may last. */
export const MOODS = {
  /** Answers are lost, half of them after the job was taken. */
  losing: [20 * SECOND, 2 * MINUTE],
  /** Answers come after 5 to 25 seconds. */
  late: [20 * SECOND, 2 * MINUTE],
  /** Jobs are taken, and no answer comes within half a minute. */
  silent: [20 * SECOND, MINUTE],
  /** A proxy says 504 after a minute; the job was taken. */
  gateway: [20 * SECOND, MINUTE],
  /** 429 without a time. */
  limited: [10 * SECOND, 2 * MINUTE],
  /** 429 with Retry-After. */
  paced: [10 * SECOND, 2 * MINUTE],
  /** 503 with Retry-After. */
  busy: [10 * SECOND, 2 * MINUTE],
  /** 500 in the application's own words: not taken. */
  broken: [20 * SECOND, 4 * MINUTE],
  /** 500 of a proxy: half of the jobs were taken. */
  proxied: [20 * SECOND, MINUTE],
  /** A page, with status 200: half of the jobs were taken. */
  html: [20 * SECOND, MINUTE],
  /** Half of the JSON; the job was taken. */
  cut: [20 * SECOND, MINUTE],
  /** Jobs are in a state nobody knows. */
  wordy: [20 * SECOND, 2 * MINUTE],
  /** Its name has no address, or no connection comes about. */
  dead: [20 * SECOND, 4 * MINUTE],
  /** 50 MB of nothing. */
  endless: [20 * SECOND, MINUTE],
  /** Refuses every other request for its content. */
  prudish: [20 * SECOND, MINUTE],
  /** Nothing is there: no connection for anything. */
  gone: [MINUTE, MINUTE],
  /** 401 for everything. */
  keyless: [MINUTE, 4 * MINUTE],
  /** 402, with a time half of the time. */
  spent: [MINUTE, 4 * MINUTE],
  /** 404: it does not know the model. */
  modelless: [20 * SECOND, MINUTE],
  /** Jobs are taken and end uncharged, for want of capacity or by a fault. */
  failing: [20 * SECOND, 4 * MINUTE],
} as const satisfies Record<string, readonly [number, number]>;
export type Mood = keyof typeof MOODS | "well";

interface Phase {
  readonly from: number;
  readonly mood: Mood;
}

/** What happens in one seed. */
export interface RoutesPlan {
  /** The account that is well all the time; undefined in one seed of five. */
  readonly steady: LaneId | undefined;
  readonly creates: readonly number[];
  /** When the process ends, how, and for how long. */
  readonly restarts: readonly {
    readonly at: number;
    readonly kind: "kill" | "stop";
    readonly forMs: number;
  }[];
  moodOf(lane: LaneId, at: number): Mood;
}

/** Tasks come at this rate on average: three accounts out of order leave one that can do it. */
const TASKS_PER_SECOND = 2;
const RESTART_EVERY_MS = 4 * MINUTE;
const MOST_DOWN_MS = 20 * SECOND;

export function planRoutes({ seed, tasks }: { readonly seed: number; readonly tasks: number }): RoutesPlan {
  const dice = createDice(seed, "plan");
  const length = Math.ceil((tasks / TASKS_PER_SECOND) * SECOND);
  const steadyPlace = LANES[seed % (LANES.length + 1)];
  const steady = steadyPlace && laneOf(steadyPlace);
  const phases = new Map(LANES.map(laneOf).map((lane) => [lane, phasesOf(dice, length, lane === steady)]));
  return {
    steady,
    creates: createsOf(dice, tasks, length),
    restarts: Array.from({ length: Math.max(1, Math.round(length / RESTART_EVERY_MS)) }, () => ({
      ...{ at: dice.between(length / 10, length), kind: dice.pick(["kill", "stop"]) },
      forMs: dice.between(SECOND / 10, MOST_DOWN_MS),
    })),
    moodOf: (lane, at) => phases.get(lane)?.findLast(({ from }) => from <= at)?.mood ?? "well",
  };
}

/** Half of them come at once with others. */
function createsOf(dice: Dice, tasks: number, length: number): number[] {
  const times: number[] = [];
  while (times.length < tasks) {
    const at = dice.between(0, length);
    const together = dice.chance(0.05) ? dice.between(5, 40) : 1;
    for (let i = 0; i < together && times.length < tasks; i++) times.push(at);
  }
  return times;
}

function phasesOf(dice: Dice, length: number, isSteady: boolean): Phase[] {
  const phases: Phase[] = [{ from: 0, mood: "well" }];
  const moods = Object.keys(MOODS) as [keyof typeof MOODS, ...(keyof typeof MOODS)[]];
  let at = 0;
  // After the last task everything is well, so that what is left can end.
  while (!isSteady) {
    at += dice.between(5 * SECOND, 90 * SECOND);
    if (at >= length) break;
    const mood = dice.pick(moods);
    phases.push({ from: at, mood });
    at += dice.between(...MOODS[mood]);
    phases.push({ from: at, mood: "well" });
  }
  return phases;
}
