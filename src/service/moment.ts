import { mustBe } from "../domain/errors.ts";

const SECONDS = /^\d{1,12}(?:\.\d{1,3})?$/;
/** An unescaped plus in a query arrives as a space. */
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|([+ -])(\d\d):(\d\d)))?$/;

/**
 * Parses a moment: an ISO 8601 date (its first moment in UTC), an ISO 8601 date and time with an offset, or Unix seconds.
 * @returns epoch milliseconds; undefined for anything else, such as February 30
 */
export function parseMoment(given: string | number): number | undefined {
  const text = String(given);
  if (SECONDS.test(text)) return Math.round(Number(text) * 1000);
  const [, year, month, day] = ISO.exec(text) ?? [];
  if (year === undefined) return undefined;
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // Date reads February 30 as a day in March.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return undefined;
  const at = Date.parse(text.replace(" ", "+"));
  return Number.isNaN(at) ? undefined : at;
}

/** Like `parseMoment`, for a parameter that may be absent. @throws AppError `invalid_request` naming it */
export function momentOf(param: string, given: string | number | undefined): number | undefined {
  if (given === undefined) return undefined;
  const at = parseMoment(given);
  if (at !== undefined) return at;
  throw mustBe(param, { form: "moment" }, given);
}
