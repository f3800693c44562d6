import { expect, test } from "bun:test";
import { bar } from "../../cli/tui/progress.tsx";

test("the bar fills one cell for each sixteenth, and never overflows", () => {
  expect(bar(0)).toBe("▕░░░░░░░░░░░░░░░░▏");
  expect(bar(50)).toBe("▕████████░░░░░░░░▏");
  expect(bar(99)).toBe("▕███████████████░▏");
  expect(bar(100)).toBe("▕████████████████▏");
  expect([bar(-5), bar(250)]).toEqual([bar(0), bar(100)]);
});
