import { type Micros, toMicros } from "../domain/money/money.ts";
import { isMultiplier, ONE } from "../domain/money/multiplier.ts";

/** A larger amount is no budget, but a way to say "unlimited". */
const MOST_USD = 100_000_000;

/**
 * US dollars as others keep them, as a floating-point number or a text of one. Rounded down to whole micro-units.
 * @returns undefined for what is none, is below zero, or is too much to be meant
 */
export function microsOf(usd: unknown): Micros | undefined {
  const value = typeof usd === "string" && usd.trim() !== "" ? Number(usd) : usd;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || value > MOST_USD) return undefined;
  // 0.29 * 1e6 is 290000.00000000006, and 1.1 * 1e6 is 1100000.0000000002: both are meant to be whole.
  return toMicros(Math.floor(Number((value * 1_000_000).toFixed(3))));
}

/** A factor as others keep it, in millionths. @returns undefined for what can be none here */
export function multiplierOf(factor: unknown): number | undefined {
  const value = typeof factor === "string" ? Number(factor) : factor;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  const millionths = Math.round(value * ONE);
  return isMultiplier(millionths) ? millionths : undefined;
}
