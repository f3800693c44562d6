import { describe, expect, test } from "bun:test";
import {
  bar,
  progressLine,
  takesTerminalProgress,
  terminalProgress,
} from "../../../cli/format/progress-line.ts";

const PLAIN = { cyan: (text: string) => text, dim: (text: string) => text };
const MOMENT = { id: "task_01m7z8zvfpegjs21bj52wsn618", status: "processing", progress: 45, elapsedSec: 12 };

test("the bar fills one cell for each part of the work, and never overflows", () => {
  expect(bar(0)).toBe("▕░░░░░░░░░░░░░░░░▏");
  expect(bar(50)).toBe("▕████████░░░░░░░░▏");
  expect(bar(99)).toBe("▕███████████████░▏");
  expect(bar(100)).toBe("▕████████████████▏");
  expect([bar(-5), bar(250)]).toEqual([bar(0), bar(100)]);
  expect(bar(50, 6)).toBe("▕███░░░▏");
});

describe("the line of a task", () => {
  test.each([
    [80, "task_01m7z8zvfpegjs21bj52wsn618 ▕███████░░░░░░░░░▏ processing 45 % 12 s"],
    [60, "▕███████░░░░░░░░░▏ processing 45 % 12 s"],
    [30, "▕██░░░░▏ processing 45 % 12 s"],
    [20, "▕██░░░░▏ 45 % 12 s"],
    [14, "▕██░░░░▏ 45 %"],
    [5, "45 %"],
    [2, "4…"],
  ])("of %i columns has what fits", (width, expected) => {
    expect(progressLine(MOMENT, width, PLAIN)).toBe(expected);
  });

  test("never is wider than it may be", () => {
    for (let width = 1; width <= 120; width++)
      for (const progress of [0, 7, 100])
        expect(Bun.stringWidth(progressLine({ ...MOMENT, progress }, width, PLAIN))).toBeLessThanOrEqual(
          width,
        );
  });

  test("tells the place in the queue, and why nothing is known", () => {
    const pending = { ...MOMENT, status: "pending", progress: 0, queuePosition: 3 };
    expect(progressLine(pending, 60, PLAIN)).toContain("pending #3 0 %");
    expect(progressLine({ ...MOMENT, trouble: "no answer, waiting" }, 60, PLAIN)).toContain(
      "no answer, waiting 45 %",
    );
  });
});

describe("the terminal's own progress", () => {
  test("has a number, is unknown, or goes away", () => {
    expect([terminalProgress(45), terminalProgress("unknown"), terminalProgress("none")]).toEqual([
      "\u001b]9;4;1;45\u001b\\",
      "\u001b]9;4;3;0\u001b\\",
      "\u001b]9;4;0;0\u001b\\",
    ]);
  });

  test.each([
    [{ TERM: "xterm-256color" }, true],
    [{ TERM: "dumb" }, false],
    [{ TERM: "linux" }, false],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.5.14" }, false],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.6.6" }, true],
    [{ TERM_PROGRAM: "iTerm.app" }, false],
  ])("with %p is told: %p", (env, expected) => {
    expect(takesTerminalProgress(env)).toBe(expected);
  });
});
