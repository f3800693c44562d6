import { expect, test } from "bun:test";
import { parseRetryAfterMs } from "../../src/toolkit/retry-after.ts";

const TEN = "Sat, 21 Nov 2026 10:00:00 GMT";
const HALF_MINUTE_LATER = "Sat, 21 Nov 2026 10:00:30 GMT";

const answers: [headers: Record<string, string>, delayMs: number | undefined][] = [
  [{}, undefined],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": " 7 " }, 7_000],
  [{ "retry-after": "1.5" }, 1_500],
  [{ "retry-after": "86400" }, 86_400_000],
  [{ "retry-after": "99999999999" }, 99_999_999_999_000],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
  [{ "retry-after": HALF_MINUTE_LATER, date: TEN }, 30_000],
  [{ "retry-after": TEN, date: HALF_MINUTE_LATER }, 0],
  [{ "retry-after": HALF_MINUTE_LATER }, undefined],
  [{ "retry-after": "", date: TEN }, undefined],
  [{ "retry-after": "-5", date: TEN }, undefined],
  [{ "retry-after": "soon", date: TEN }, undefined],
  [{ "retry-after": "12s", date: TEN }, undefined],
];
test.each(answers)("%j asks to wait %p ms", (headers, delayMs) => {
  expect(parseRetryAfterMs((name) => headers[name])).toBe(delayMs);
});

test("a date counts from the answer's own time, or from the reader's when the answer has none", () => {
  const parse = (headers: Record<string, string>) =>
    parseRetryAfterMs((name) => headers[name], Date.parse("Sat, 21 Nov 2026 10:00:20 GMT"));
  expect(parse({ "retry-after": HALF_MINUTE_LATER, date: TEN })).toBe(30_000);
  expect(parse({ "retry-after": HALF_MINUTE_LATER })).toBe(10_000);
  expect(parse({ "retry-after": HALF_MINUTE_LATER, date: "today" })).toBe(10_000);
});
