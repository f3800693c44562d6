import { expect, test } from "bun:test";
import { parseMoment } from "../../src/service/moment.ts";

const AT = Date.UTC(2026, 10, 21, 14, 0, 0);

test.each([
  ["2026-11-21T14:00:00Z", AT],
  ["2026-11-21T14:00Z", AT],
  ["2026-11-21T14:00:00.250Z", AT + 250],
  ["2026-11-21T16:00:00+02:00", AT],
  ["2026-11-21T16:00:00 02:00", AT],
  ["2026-11-21T09:30:00-04:30", AT],
  ["2026-11-21", AT - 14 * 3_600_000],
  ["2028-02-29", Date.UTC(2028, 1, 29)],
  [String(AT / 1000), AT],
  [AT / 1000, AT],
  [AT / 1000 + 0.25, AT + 250],
  [`${AT / 1000}.25`, AT + 250],
  ["0", 0],
])("%p is a moment", (given, at) => {
  expect(parseMoment(given)).toBe(at);
});

test.each([
  "",
  " ",
  "now",
  "2026-02-30",
  "2026-02-29T00:00:00Z",
  "2026-13-01",
  "2026-11-21T24:30:00Z",
  "2026-11-21T14:60:00Z",
  "2026-11-21 14:00:00Z",
  "2026-11-21T14:00:00",
  "2026-11-21T14:00:00z",
  "2026-11-21T14:00:00+2",
  "2026-11-21T14:00:00Z\n",
  "21.11.2026",
  "-1",
  "1e9",
  "0x10",
  "9999999999999",
  -1,
  1e99,
  Number.NaN,
  Number.POSITIVE_INFINITY,
])("%p is none", (given) => {
  expect(parseMoment(given)).toBeUndefined();
});
