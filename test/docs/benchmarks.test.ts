import { expect, test } from "bun:test";
import { VERSION } from "../../src/version.ts";
import { readRecord } from "../bench/record/keep.ts";
import { placeFigures } from "../bench/record/page.ts";
import { ROOT, readDocument } from "./blocks.ts";

test("the figures of docs/benchmarks.md are those of this version's record", async () => {
  const page = await readDocument("docs/benchmarks.md");
  expect(page).toBe(placeFigures(page, readRecord(ROOT, VERSION)));
});
