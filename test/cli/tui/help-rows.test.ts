import { expect, test } from "bun:test";
import { helpRows } from "../../../cli/tui/kit/help-rows.ts";
import { HELP as TOP } from "../../../cli/tui/top/help.ts";
import { HELP as WATCH } from "../../../cli/tui/watch/help.ts";

const ENTRIES = [
  ["q", "quit"],
  ["", ""],
  ["a, b", "one two three"],
] as const;

test("what is long goes on below its key, and every line is as wide as the screen", () => {
  expect(helpRows(ENTRIES, { width: 13, height: 9 })).toEqual([
    ["q    ", "quit    "],
    ["     ", "        "],
    ["a, b ", "one two "],
    ["     ", "three   "],
  ]);
});

test("spaces go where there are fewer lines, then the last lines", () => {
  const shown = (height: number) =>
    helpRows(ENTRIES, { width: 13, height }).map((row) => row.join("").trimEnd());
  expect(shown(3)).toEqual(["q    quit", "a, b one two", "     three"]);
  expect(shown(1)).toEqual(["q    quit"]);
});

test.each([
  ["task watch", WATCH, 20],
  ["top", TOP, 22],
] as const)("the help of %s fits into 40 columns and 24 lines", (_, entries, height) => {
  const all = helpRows(entries, { width: 40, height: 99 });
  const spaces = all.filter((row) => row.join("").trim() === "").length;
  expect(all.length - spaces).toBeLessThanOrEqual(height);
});
