import type { JsonObject } from "../../src/domain/json.ts";
import type { Dice } from "./dice.ts";
import { plainPng, type Rehearsal } from "./rehearsal.ts";

type Purchase = Pick<Rehearsal, "ends" | "errorCode" | "outputs" | "cancelAfterMs"> & { body: JsonObject };

const DELAY_MS = 120;

/** What is bought in a round, and how often. Everything is an image, for images are cheap to make. */
const PURCHASES: readonly { readonly weight: number; readonly play: (dice: Dice) => Purchase }[] = [
  { weight: 40, play: (dice) => completed(dice, 1) },
  { weight: 15, play: (dice) => completed(dice, dice.between(2, 4)) },
  { weight: 10, play: (dice) => failed(dice, { outcome: "failed" }, "UPSTREAM_ERROR") },
  { weight: 5, play: (dice) => failed(dice, { outcome: "moderated" }, "CONTENT_MODERATED") },
  { weight: 3, play: (dice) => failed(dice, { outputs_lost: true }, "FINALIZATION_FAILED") },
  { weight: 4, play: (dice) => completed(dice, 1, { fail_times: 1 }) },
  { weight: 20, play: cancelled },
];
const TOTAL_WEIGHT = PURCHASES.reduce((sum, { weight }) => sum + weight, 0);

/** The next purchase of a client. */
export function rehearsePurchase(dice: Dice, marker: string): Rehearsal {
  const { body, ...rest } = choose(dice).play(dice);
  const hasKey = dice.chance(0.5);
  const hangsUp = hasKey && dice.chance(0.15);
  return {
    ...rest,
    marker,
    kind: "image",
    body: { ...body, prompt: marker },
    ...(hasKey ? { idempotencyKey: `key of ${marker}` } : {}),
    ...(hangsUp ? { hangUpAfterMs: dice.between(1, 8) } : {}),
  };
}

/** The plainest there is, to spend what is left. */
export function plainPurchase(marker: string): Rehearsal {
  const body = { model: "sandbox-image", prompt: marker, size: "16x16", sandbox: { delay_ms: 0 } };
  return { marker, kind: "image", body, ends: "completed", outputs: 1 };
}

function choose(dice: Dice) {
  let left = dice.next() * TOTAL_WEIGHT;
  for (const purchase of PURCHASES) {
    left -= purchase.weight;
    if (left < 0) return purchase;
  }
  throw new Error("The weights of the purchases do not sum up.");
}

function completed(dice: Dice, n: number, sandbox: JsonObject = {}): Purchase {
  return { body: image(dice, n, sandbox), ends: "completed", outputs: n };
}

function failed(dice: Dice, sandbox: JsonObject, errorCode: string): Purchase {
  return { body: image(dice, dice.between(1, 2), sandbox), ends: "failed", errorCode, outputs: 0 };
}

/** Asked for about when the task is done, so that both ends come about. */
function cancelled(dice: Dice): Purchase {
  const delay_ms = dice.between(0, DELAY_MS);
  const cancelAfterMs = Math.max(0, delay_ms + dice.between(-40, 80));
  return { ...completed(dice, 1, { delay_ms }), cancelAfterMs };
}

function image(dice: Dice, n: number, sandbox: JsonObject): JsonObject {
  return {
    model: "sandbox-image",
    n,
    ...extent(dice),
    sandbox: { delay_ms: dice.between(0, DELAY_MS), ...sandbox },
  };
}

/** A size, or an input that decides it: then a price by megapixels is held for the largest and charged for what came. */
function extent(dice: Dice): JsonObject {
  if (dice.chance(0.75)) return { size: dice.pick(["16x16", "24x16", "48x32"]) };
  const picture = Buffer.from(plainPng(dice.between(8, 24), dice)).toString("base64");
  return { image_url: `data:image/png;base64,${picture}` };
}
