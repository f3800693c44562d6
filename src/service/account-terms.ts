import type { AccountMode } from "../domain/access/account.ts";
import { formatAmount, type Micros, ZERO } from "../domain/money/money.ts";
import { formatMultiplier, isMultiplier, MAX_MULTIPLIER, ONE } from "../domain/money/multiplier.ts";
import { unusable } from "./management.ts";

/** What an operator wants of an account, as it was given. What is absent says nothing; null takes back. */
export interface AccountTerms {
  readonly mode?: AccountMode | undefined;
  /** How far below zero a prepaid account may go. */
  readonly creditLimit?: Micros | null | undefined;
  /** Millionths. */
  readonly priceMultiplier?: number | null | undefined;
  /** Below this much available, the operator is told. */
  readonly lowBalance?: Micros | null | undefined;
}

/**
 * Checks what an operator gave for an account.
 *
 * @throws AppError `invalid_request` naming the field of the management API first, then what is allowed and what was given
 */
export function checkAccountTerms({ mode, ...terms }: AccountTerms) {
  const creditLimit = terms.creditLimit === null ? ZERO : terms.creditLimit;
  return {
    mode,
    creditLimit: creditLimit && checkAmount("credit_limit", creditLimit),
    priceMultiplier: terms.priceMultiplier === null ? ONE : checkMultiplier(terms.priceMultiplier),
    lowBalance: terms.lowBalance && checkAmount("low_balance", terms.lowBalance),
  };
}

/** @throws AppError `invalid_request` for what is no multiplier in millionths */
export function checkMultiplier<Absent extends null | undefined>(
  millionths: number | Absent,
): number | Absent {
  if (typeof millionths !== "number" || isMultiplier(millionths)) return millionths;
  throw unusable(
    "price_multiplier",
    `must be above 0 and at most ${formatMultiplier(MAX_MULTIPLIER)}`,
    millionths / ONE,
  );
}

/** @throws AppError `invalid_request` for what is below zero */
export function checkAmount(field: string, amount: Micros): Micros {
  if (amount >= 0) return amount;
  throw unusable(field, "must be an amount from 0", formatAmount(amount));
}
