import { usage } from "../failure.ts";
import { parseDuration } from "../format/units.ts";

/**
 * `2h` ago, or a time such as `2026-11-21`, `2026-11-21 14:00:00Z` or `2026-11-21T14:00:00+01:00`; UTC where it names no zone.
 *
 * @returns ISO 8601
 * @throws Failure naming the flag
 */
export function parseMoment(flag: string, text: string, nowMs: number): string {
  const wrong = usage(
    `${flag} must be how long ago (30m, 2h, 7d) or a time (2026-11-21T14:00:00Z), got "${text.slice(0, 80)}".`,
  );
  const at = /^\d{4}-/.test(text) ? Date.parse(withZone(text.trim())) : nowMs - ago(text, wrong);
  if (Number.isNaN(at) || Math.abs(at) > MAX_TIME_MS) throw wrong;
  return new Date(at).toISOString();
}

/** Of a Date. */
const MAX_TIME_MS = 8.64e15;

function ago(text: string, wrong: Error): number {
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
