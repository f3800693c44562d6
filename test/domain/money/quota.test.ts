import { expect, test } from "bun:test";
import { QUOTA_RESETS, quotaPeriod, quotaResetsAt } from "../../../src/domain/money/quota.ts";

const at = (text: string) => Date.parse(text);
const day = (text: string) => at(`${text}T00:00:00Z`) / 86_400_000;

test("a period begins with its day, its Monday or its first of the month, in UTC", () => {
  const moment = at("2026-11-21T23:59:59.999Z");
  const periods = QUOTA_RESETS.map((reset) => quotaPeriod(reset, moment));
  expect(periods).toEqual([0, day("2026-11-21"), day("2026-11-16"), day("2026-11-01")]);
  expect(quotaPeriod("weekly", at("2026-11-16T00:00:00Z"))).toBe(day("2026-11-16"));
  expect(quotaPeriod("weekly", at("2026-11-15T23:59:59.999Z"))).toBe(day("2026-11-09"));
  expect(quotaPeriod("weekly", at("1970-01-01T00:00:00Z"))).toBe(-3);
});

test("a period ends where the next one begins, also at the end of a year", () => {
  for (const reset of ["daily", "weekly", "monthly"] as const) {
    for (const moment of ["2026-11-21T12:00:00Z", "2026-12-31T23:59:59Z", "2028-02-29T00:00:00Z"].map(at)) {
      const end = quotaResetsAt(reset, moment) ?? 0;
      expect(quotaPeriod(reset, end - 1)).toBe(quotaPeriod(reset, moment));
      expect(quotaPeriod(reset, end)).toBe(end / 86_400_000);
    }
  }
  expect(quotaResetsAt("monthly", at("2026-12-05T00:00:00Z"))).toBe(at("2027-01-01T00:00:00Z"));
  expect(quotaResetsAt("total", 0)).toBeUndefined();
});
