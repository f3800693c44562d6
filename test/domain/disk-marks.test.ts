import { expect, test } from "bun:test";
import { markBytes } from "../../src/domain/disk-marks.ts";

const [MB, GB] = [1e6, 1e9];

test("without a figure, a share of the disk counts, within bounds and never much of a small one", () => {
  const of = (totalBytes: number) =>
    (["warn", "refuse"] as const).map((which) => markBytes("auto", which, totalBytes) / MB);
  expect(of(10 * GB)).toEqual([500, 100]);
  expect(of(100 * GB)).toEqual([5_000, 1_000]);
  expect(of(10_000 * GB)).toEqual([20_000, 5_000]);
  expect(of(64 * MB)).toEqual([12.8, 6.4]);
  expect(of(0)).toEqual([0, 0]);
});

test("a figure counts as it is, and none never", () => {
  expect([markBytes(7, "warn", GB), markBytes(undefined, "refuse", GB)]).toEqual([7 * MB, 0]);
});
