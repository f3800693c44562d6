import type { IncomingHttpHeaders } from "node:http";

/**
 * How long an answer asks to wait.
 *
 * @param headers `Retry-After` in seconds or as a date; a date is read against the answer's own `Date`, so that neither clock
 *   has to be right, and ignored without one
 * @returns milliseconds, ≥ 0; undefined when nothing understandable is asked for
 */
export function retryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const delayMs = Date.parse(value) - Date.parse(headers.date ?? "");
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs);
}
