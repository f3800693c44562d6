import { expect, test } from "bun:test";
import { VERSION } from "../../src/version.ts";
import { readRecord } from "../bench/record/keep.ts";
import { placeFigures } from "../bench/record/page.ts";
import { ROOT, readDocument } from "./blocks.ts";

test("the figures of docs/benchmarks.md are those of this version's record", async () => {
  const page = await readDocument("docs/benchmarks.md");
  expect(page).toBe(placeFigures(page, readRecord(ROOT, VERSION)));
});

test("README.md has no figure of speed, since no record writes any there", async () => {
  const figure = /\d(?: ?(?:µs|ms|MB|GB)|(?: \w+)?\/s| (?:\w+ )?(?:a|per) second)\b/g;
  expect("563/s, 41 µs, 5 tasks/s, 9,000 creates a second; in a second".match(figure)).toHaveLength(4);
  expect((await readDocument("README.md")).match(figure)).toBeNull();
});
