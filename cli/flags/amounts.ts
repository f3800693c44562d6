import { type Micros, parseAmount } from "../../src/domain/money/money.ts";
import { formatMultiplier, MAX_MULTIPLIER, parseMultiplier } from "../../src/domain/money/multiplier.ts";
import { usage } from "../failure.ts";

/** @throws Failure (exit 2) naming what it was for */
export function readAmount(what: string, text: string): Micros {
  const amount = parseAmount(text);
  if (amount !== undefined) return amount;
  throw usage(
    `${what} must be an amount like 5.00, with at most six decimal places, got ${JSON.stringify(text.slice(0, 80))}.`,
  );
}

/** @returns millionths @throws Failure (exit 2) naming what it was for */
export function readMultiplier(what: string, text: string): number {
  const millionths = parseMultiplier(text);
  if (millionths !== undefined) return millionths;
  throw usage(
    `${what} must be a number above 0 and at most ${formatMultiplier(MAX_MULTIPLIER)}, such as 1.25, with at most six decimal places, got ${JSON.stringify(text.slice(0, 80))}.`,
  );
}
