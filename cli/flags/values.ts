import { Option } from "commander";
import { type Micros, parseAmount } from "../../src/domain/money/money.ts";
import { formatMultiplier, MAX_MULTIPLIER, parseMultiplier } from "../../src/domain/money/multiplier.ts";
import { Failure, usage } from "../failure.ts";
import { parseDuration } from "../format/units.ts";

/** A flag as help lists it: `--rpm <count>`. */
interface Flag {
  readonly flag: string;
}

/** The flags of a command as commander gives them, by their names in camel case. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** `--rpm` */
export function nameOf({ flag }: Flag): string {
  return flag.replace(/ .*/, "");
}

/** The values given for a flag. */
export function flagTexts({ flag }: Flag, flags: FlagValues): readonly string[] | undefined {
  const given = flags[new Option(flag).attributeName()];
  // Commander gives a text, or texts.
  return given === undefined ? undefined : ([given].flat() as string[]);
}

/** The value given for a flag that takes one. */
export function flagText(flag: Flag, flags: FlagValues): string | undefined {
  return flagTexts(flag, flags)?.[0];
}

/* Readers of the values of flags. Each throws a Failure (exit 2) that begins with `what`, usually the flag. */

/** @param expected completes "must be" */
export function unreadable(what: string, expected: string, text: string, near?: string): Failure {
  const hint = near === undefined ? undefined : `Did you mean ${near}?`;
  return usage(`${what} must be ${expected}, got ${JSON.stringify(text.slice(0, 80))}.`, hint);
}

export function readAmount(what: string, text: string): Micros {
  const amount = parseAmount(text);
  if (amount !== undefined) return amount;
  throw unreadable(
    what,
    "an amount like 5.00, with at most nine digits before the point and six after",
    text,
  );
}

/** @returns millionths */
export function readMultiplier(what: string, text: string): number {
  const millionths = parseMultiplier(text);
  if (millionths !== undefined) return millionths;
  const range = `above 0 and at most ${formatMultiplier(MAX_MULTIPLIER)}`;
  throw unreadable(what, `a number ${range}, such as 1.25, with at most six decimal places`, text);
}

export function readCount(what: string, text: string, maxDigits: number): number {
  if (/^[1-9]\d*$/.test(text) && text.length <= maxDigits) return Number(text);
  throw unreadable(what, "a whole number from 1", text);
}

/** @returns milliseconds */
export function readDuration(what: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw unreadable(what, "a duration such as 90s, 24h or 7d", text);
  }
}

/** A date means its start in UTC. A time needs its zone, because the server may be in another one. */
const DATE = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads a future time: how long from now, a date or a time. @returns epoch milliseconds */
export function readTime(what: string, text: string, now: number): number {
  if (/^\d.*[a-z]$/.test(text)) return now + readDuration(what, text);
  const [, day] = DATE.exec(text) ?? [];
  const at = day === undefined ? Number.NaN : Date.parse(text);
  // Date.parse reads a 31st of June as the 1st of July.
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
  if (!Number.isNaN(at) && isDay) return at;
  throw unreadable(what, "like 90d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z, or never", text);
}

/** The most milliseconds that a Date holds. */
const MAX_TIME_MS = 8.64e15;

/**
 * Reads a past time: `2h` ago, or a time such as `2026-11-21`, `2026-11-21 14:00:00Z` or `2026-11-21T14:00:00+01:00`; UTC
 * where it names no zone.
 *
 * @returns ISO 8601
 */
export function readPastTime(what: string, text: string, now: number): string {
  const wrong = usage(
    `${what} must be how long ago (30m, 2h, 7d) or a time (2026-11-21T14:00:00Z), got "${text.slice(0, 80)}".`,
  );
  const at = /^\d{4}-/.test(text) ? Date.parse(withZone(text.trim())) : now - ago(text, wrong);
  if (Number.isNaN(at) || Math.abs(at) > MAX_TIME_MS) throw wrong;
  return new Date(at).toISOString();
}

function ago(text: string, wrong: Failure): number {
  try {
    return parseDuration(text);
  } catch {
    throw wrong;
  }
}

function withZone(text: string): string {
  const time = text.replace(/^(\d{4}-\d\d-\d\d) /, "$1T");
  return !time.includes("T") || /(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`;
}
