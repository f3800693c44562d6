import { Failure, usage } from "../failure.ts";
import { parseDuration } from "../format/units.ts";

/** @returns milliseconds @throws Failure (exit 2) naming the flag */
export function readDuration(flag: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usage(`${flag} must be a duration such as 90s, 24h or 7d, got ${quoted(text)}.`);
  }
}

/** A date is its beginning in UTC. A time needs its zone, because the server may be in another one. */
const DATE = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * A time to come: how long from now, a date or a time.
 *
 * @returns epoch milliseconds
 * @throws Failure (exit 2) naming the flag
 */
export function readTime(flag: string, text: string, now: number): number {
  if (/^\d.*[a-z]$/.test(text)) return now + readDuration(flag, text);
  const [, day] = DATE.exec(text) ?? [];
  const at = day === undefined ? Number.NaN : Date.parse(text);
  // Date.parse reads a 31st of June as the 1st of July.
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
  if (!Number.isNaN(at) && isDay) return at;
  throw usage(
    `${flag} must be like 90d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z, or never, got ${quoted(text)}.`,
  );
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));
