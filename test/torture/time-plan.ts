import { createDice, type Dice } from "./dice.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What goes wrong, and for how long or how far. */
export type Trouble =
  | { readonly kind: "clock step"; readonly byMs: number }
  | {
      readonly kind: "kill" | "stop";
      readonly forMs: number;
      /** The clock is set while nothing runs. */
      readonly byMs: number;
    }
  | { readonly kind: "full disk" | "standstill"; readonly forMs: number }
  | { readonly kind: "upstream out of order" };

export interface TimePlan {
  readonly troubles: readonly { readonly at: number; readonly trouble: Trouble }[];
  /** When tasks are created. */
  readonly creates: readonly number[];
}

/** Of each kind, a day. */
const A_DAY = {
  "clock step": 6,
  kill: 12,
  stop: 4,
  "full disk": 8,
  standstill: 4,
  "upstream out of order": 8,
} as const satisfies Record<Trouble["kind"], number>;

/** Decides what happens in so many days. Most tasks are created shortly before something goes wrong. */
export function planTime(options: { readonly days: number; readonly tasks: number; readonly seed: number }) {
  const dice = createDice(options.seed, "plan");
  const length = options.days * DAY;
  const kinds = Object.entries(A_DAY) as [Trouble["kind"], number][];
  const troubles = kinds.flatMap(([kind, aDay]) =>
    Array.from({ length: Math.max(1, Math.round(aDay * options.days)) }, () => ({
      at: dice.between(MINUTE, length),
      trouble: toTrouble(kind, dice),
    })),
  );
  const creates = Array.from({ length: options.tasks }, () => {
    const before = troubles[dice.between(0, troubles.length - 1)]?.at ?? 0;
    return dice.chance(0.8) ? Math.max(0, before - dice.between(0, 2 * MINUTE)) : dice.between(0, length);
  });
  return { troubles, creates } satisfies TimePlan;
}

function toTrouble(kind: Trouble["kind"], dice: Dice): Trouble {
  switch (kind) {
    case "clock step":
      return { kind, byMs: stepMs(dice) };
    case "kill":
    case "stop":
      return { kind, forMs: spread(dice, SECOND, 5 * HOUR), byMs: dice.chance(0.4) ? stepMs(dice) : 0 };
    case "full disk":
    case "standstill":
      return { kind, forMs: spread(dice, 10 * SECOND, HOUR) };
    case "upstream out of order":
      return { kind };
  }
}

/** Either way, from a moment to a day. */
function stepMs(dice: Dice): number {
  return spread(dice, 3 * SECOND, 26 * HOUR) * dice.pick([-1, 1]);
}

/** Between the two, each order of magnitude as likely as the next. */
function spread(dice: Dice, min: number, max: number): number {
  return Math.round(min * (max / min) ** dice.next());
}
