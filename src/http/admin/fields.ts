import { mustBe } from "../../domain/errors.ts";
import { CURRENCY, type Micros, parseAmount } from "../../domain/money/money.ts";
import { parseMultiplier } from "../../domain/money/multiplier.ts";
import { type Schema, text } from "../wire/schema.ts";

/** Fields that several resources of the management API share. */

export const NAME = text("What people call it; unique among those of its kind that are not revoked.", {
  minLength: 1,
  maxLength: 100,
});

export const AMOUNT: Schema = {
  type: "string",
  pattern: "^-?\\d{1,9}(\\.\\d{1,6})?$",
  "x-must": "be an amount like 5.00, with at most nine digits before the point and six after",
};

export const CURRENCY_FIELD: Schema = { type: "string", const: CURRENCY };

/** The characters of a credential that may be shown. */
export const DISPLAY = text("First and last characters, to recognise it by.");

export const statusOf = (...values: string[]) => text("Only an active one is taken.", { enum: values });

/** @throws AppError `invalid_request` if the text is no amount */
export function amountOf(field: string, text: string): Micros;
export function amountOf<Absent extends undefined>(field: string, text: string | Absent): Micros | Absent;
export function amountOf(field: string, text: string | undefined) {
  if (text === undefined) return undefined;
  const amount = parseAmount(text);
  if (amount !== undefined) return amount;
  throw mustBe(field, { form: "amount" }, text);
}

/** @returns millionths @throws AppError `invalid_request` if the text is no multiplier */
export function multiplierOf(field: string, text: string): number {
  const millionths = parseMultiplier(text);
  if (millionths !== undefined) return millionths;
  throw mustBe(field, { form: "multiplier" }, text);
}
