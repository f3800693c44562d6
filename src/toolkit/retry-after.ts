/** The headers an answer may ask to wait with, and its own time. */
type Name = "retry-after-ms" | "retry-after" | "date";

/**
 * How long an answer asks to wait: `retry-after-ms`, else `Retry-After` in seconds or as a date. A date counts from the answer's
 * own `Date`, so that neither clock has to be right.
 *
 * @param nowMs what a date counts from when the answer has no `Date`; without it, such a date says nothing
 * @returns milliseconds, ≥ 0, without an upper limit; undefined when the answer asks for nothing understandable
 */
export function parseRetryAfterMs(
  header: (name: Name) => string | null | undefined,
  nowMs?: number,
): number | undefined {
  const exact = header("retry-after-ms")?.trim() ?? "";
  if (/^\d+$/.test(exact)) return Number(exact);
  const value = header("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  // Date.parse accepts more than dates: "-5" is a day in May.
  if (!/\d:\d\d/.test(value)) return undefined;
  const sentAt = Date.parse(header("date") ?? "");
  const delayMs = Date.parse(value) - (Number.isNaN(sentAt) ? (nowMs ?? Number.NaN) : sentAt);
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs);
}
