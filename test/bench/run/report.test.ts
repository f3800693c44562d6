import { expect, test } from "bun:test";
import { measurement, renderTable } from "./report.ts";

const each = { values: [60, 62, 61], baseline: [20, 20, 20] };
const RATE = {
  name: "creates",
  unit: "req/s",
  values: [14_000, 15_000, 16_000],
  baseline: { name: "bare", values: [30_000, 30_000, 30_000] },
} as const;

test("the processor time of a request stands below its rate, that of the baseline and their ratio as well", () => {
  const lines = renderTable([measurement({ ...RATE, eachUs: each })]).split("\n");
  const cells = lines.slice(3, 5).map((line) => line.split("│").map((cell) => cell.trim()));
  expect(cells[0]?.slice(1, 7)).toEqual([
    ...["creates", "15,000 req/s", "14,000–16,000", "30,000", "30,000–30,000", "0.50"],
  ]);
  expect(cells[1]?.slice(1, 7)).toEqual([
    "vs bare",
    "61.0 µs each",
    "60.0–62.0",
    "20.0",
    "20.0–20.0",
    "3.05",
  ]);
});

test("without an answer of the system there is no processor time", () => {
  const { eachUs } = measurement({ ...RATE, eachUs: { values: [], baseline: [] } });
  expect(eachUs).toBeUndefined();
});

test("the report says once what was drawn", () => {
  const renders = "the same 1×1 PNG each time";
  const text = renderTable([
    measurement({ ...RATE, renders, note: "on all cores" }),
    measurement({ ...RATE, name: "  p50", renders }),
  ]);
  expect(text.split("\n").slice(-1)).toEqual(["creates: draws the same 1×1 PNG each time; on all cores"]);
});
