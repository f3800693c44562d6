import { describe, expect, test } from "bun:test";
import { cutText, type Fitting, fitColumns, GAP } from "../../../cli/format/fit.ts";
import { runProgram } from "../../../cli/program.ts";
import { emptyFolder, fakeContext, svc } from "../support.ts";

describe("a text is cut", () => {
  test.each([
    ["abcdef", 6, "end", "abcdef"],
    ["abcdef", 5, "end", "abcd…"],
    ["abc def", 5, "end", "abc…"],
    ["task_0123456789", 9, "middle", "task…6789"],
    ["abcdef", 2, "middle", "a…"],
    ["abcdef", 1, "middle", "…"],
    ["abcdef", 0, "end", ""],
    ["東京タワー", 6, "end", "東京…"],
    ["東京タワー", 5, "end", "東京…"],
    ["a👨‍👩‍👧b👍🏽c", 4, "end", "a👨‍👩‍👧…"],
    ["e\u0301e\u0301e\u0301", 2, "end", "e\u0301…"],
  ] as const)("%s to %i at its %s", (text, width, where, cut) => {
    expect(cutText(text, width, where)).toBe(cut);
    expect(Bun.stringWidth(cut)).toBeLessThanOrEqual(width);
  });
});

describe("columns", () => {
  const id: Fitting = { cut: "middle" };
  const state: Fitting = {};
  const note: Fitting = { cut: "end", rank: 1 };
  const extra: Fitting = { rank: 2 };
  const all = [id, state, note, extra];
  const natural = [20, 9, 40, 12];

  test("that fit stay as they are", () => {
    expect(fitColumns(all, natural, 87)).toEqual({ columns: [0, 1, 2, 3], widths: natural });
  });

  test("lose text first, down to sixteen characters", () => {
    expect(fitColumns(all, natural, 86).widths).toEqual([20, 9, 39, 12]);
    expect(fitColumns(all, natural, 63)).toEqual({ columns: [0, 1, 2, 3], widths: [20, 9, 16, 12] });
  });

  test("are then left out, the least important first, unless there is room for it", () => {
    expect(fitColumns(all, natural, 62)).toEqual({ columns: [0, 1, 2], widths: [20, 9, 29] });
    expect(fitColumns(all, natural, 48)).toEqual({ columns: [0, 1, 3], widths: [20, 9, 12] });
    expect(fitColumns(all, natural, 44)).toEqual({ columns: [0, 1], widths: [20, 9] });
  });

  test("lose parts of ids last, and never parts of words", () => {
    expect(fitColumns(all, natural, 30)).toEqual({ columns: [0, 1], widths: [19, 9] });
    expect(fitColumns(all, natural, 5)).toEqual({ columns: [0, 1], widths: [6, 9] });
  });

  test("are as wide as the terminal at most, wherever those that stay can be", () => {
    for (let width = 17; width < 100; width++) {
      const { widths } = fitColumns(all, natural, width);
      expect(widths.reduce((sum, each) => sum + each + GAP, -GAP)).toBeLessThanOrEqual(width);
    }
  });
});

describe("a list on a terminal", async () => {
  const cwd = emptyFolder();
  const long = "a-name-that-somebody-chose-without-thinking-of-terminals";
  for (const args of [
    ["migrate"],
    ["keys", "create", "--name", "web", "--expires", "2100-01-31", "--models", "sandbox-*", "--rpm", "60"],
    ["keys", "create", "--name", long],
    ["accounts", "create", long, "--mode", "prepaid", "--credit", "123456.78"],
    ["tokens", "create", "--name", long],
  ])
    expect((await svc(args, { cwd })).exitCode).toBe(0);

  const lists = [
    ["keys", "list"],
    ["accounts", "list"],
    ["tokens", "list"],
    ["models", "list", "--data-dir", "svc-data"],
    ["pricing", "list"],
    ["ledger", long],
  ];
  test.each(lists)("fits: %s %s", async (...args) => {
    for (const columns of [40, 60, 80, 120, 200]) {
      const context = fakeContext({ isTerminal: true, columns, cwd, env: { NO_COLOR: "1" } });
      expect(await runProgram(args.filter(Boolean), context)).toBe(0);
      const lines = context.stdout.text().trimEnd().split("\n");
      const whole = await svc([...args, "--plain"], { cwd });
      expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(columns);
      expect(lines.length).toBe(1 + whole.stdout.trimEnd().split("\n").length);
      const isNarrow = context.stderr.text().includes("No room for ");
      if (columns === 200) expect(isNarrow).toBe(false);
      if (columns === 40) expect(isNarrow).toBe(true);
    }
  });
});
