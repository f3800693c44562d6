export const DAY_MS = 86_400_000;

/** The day of a moment, counted from 1970-01-01, UTC. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/** The first day of the month of a moment, UTC, or of the month a given number of months later. */
export function monthStartOf(atMs: number, monthsLater = 0): number {
  const date = new Date(atMs);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater, 1));
}
