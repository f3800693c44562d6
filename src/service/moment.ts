const SECONDS = /^\d{1,12}(?:\.\d{1,3})?$/;
/** In a query a plus that was not escaped arrives as a space. */
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|([+ -])(\d\d):(\d\d)))?$/;

/**
 * A moment as people and programs write it: a date (its first moment in UTC) or a date and time with its offset in ISO 8601, or
 * Unix seconds.
 *
 * @returns epoch milliseconds; undefined for what is none, such as the 30th of February
 */
export function parseMoment(given: string | number): number | undefined {
  const text = String(given);
  if (SECONDS.test(text)) return Math.round(Number(text) * 1000);
  const [, year, month, day] = ISO.exec(text) ?? [];
  if (year === undefined) return undefined;
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // Some days are only taken for days of the month after.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return undefined;
  const at = Date.parse(text.replace(" ", "+"));
  return Number.isNaN(at) ? undefined : at;
}
