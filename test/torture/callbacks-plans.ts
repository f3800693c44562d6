import type { Dice } from "./dice.ts";
import type { Rehearsal } from "./rehearsal.ts";

/**
 * What a callback's receiver does. `times` counts POSTs that arrived whole: so often it goes wrong, and then it accepts.
 * `accepts` at once · `dawdles` before it accepts · `recovers` after refusals · `refuses` each · `hangs` without an answer ·
 * `resets` the connection · `breaks off` in the status line · `halves` the body of an answer that accepts
 */
export const MANNERS = [
  "accepts",
  "dawdles",
  "recovers",
  "refuses",
  "hangs",
  "resets",
  "breaks off",
  "halves",
] as const;
export type Manner = (typeof MANNERS)[number];

export interface Plan {
  readonly manner: Manner;
  /** POSTs that go wrong before one is accepted. */
  readonly times: number;
  /** Before an answer. */
  readonly afterMs: number;
}

const WEIGHTS: Readonly<Record<Manner, number>> = {
  accepts: 44,
  dawdles: 12,
  recovers: 16,
  refuses: 8,
  hangs: 2,
  resets: 8,
  "breaks off": 6,
  halves: 4,
};
const TOTAL_WEIGHT = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);

/** Makes tasks with callbacks, and remembers what the receiver of each is to do. */
export function createPlanner(options: {
  /** Where a receiver with these manners listens. */
  readonly originOf: (manner: Manner, dice: Dice) => string;
  /** Without them a run is over sooner: each costs five times the ten seconds a send may take. */
  readonly withHangs: boolean;
}) {
  const plans = new Map<string, Plan>();

  function planOf(dice: Dice): Plan {
    let left = dice.next() * TOTAL_WEIGHT;
    const chosen = MANNERS.find((manner) => {
      left -= WEIGHTS[manner];
      return left < 0;
    });
    const manner = chosen === undefined || (chosen === "hangs" && !options.withHangs) ? "accepts" : chosen;
    return { manner, times: dice.between(1, 4), afterMs: dice.between(100, 900) };
  }

  return {
    plans,
    rehearse(dice: Dice, marker: string): Rehearsal {
      const plan = planOf(dice);
      plans.set(marker, plan);
      const isFailure = dice.chance(0.2);
      const isCancelled = !isFailure && dice.chance(0.06);
      return {
        kind: "image",
        marker,
        // Every answer is learnt in the end, so that every callback is known.
        idempotencyKey: `key of ${marker}`,
        body: {
          model: "sandbox-image",
          size: "16x16",
          prompt: marker,
          callback_url: `${options.originOf(plan.manner, dice)}/${marker}`,
          sandbox: { delay_ms: isCancelled ? 200 : 0, ...(isFailure ? { outcome: "moderated" } : {}) },
        },
        ...(isFailure
          ? { ends: "failed", errorCode: "CONTENT_MODERATED", outputs: 0 }
          : { ends: "completed", outputs: 1 }),
        ...(isCancelled ? { cancelAfterMs: dice.between(0, 100) } : {}),
      };
    },
  };
}
