import { invalid } from "../domain/errors.ts";
import type { Micros } from "../domain/money/money.ts";

/**
 * The most that a create may hold. It is compared with the price at which the create would be accepted, so no price can change
 * in between.
 */
export interface CostLimit {
  /** The caller's own limit, in its field `max_cost`. */
  readonly most?: Micros | undefined;
  /** A request that holds more needs a limit from the caller. */
  readonly neededAbove: Micros;
}

/** @throws AppError `invalid_request` naming `max_cost`, with the price */
export function checkCost(cost: Micros, limit: CostLimit | undefined): void {
  if (limit === undefined) return;
  const { most, neededAbove: above } = limit;
  if (most !== undefined && cost > most)
    throw invalid({ kind: "above_max_cost", field: "max_cost", cost, most });
  if (most === undefined && cost > above)
    throw invalid({ kind: "max_cost_needed", field: "max_cost", cost, above });
}
