import { describe, expect, test } from "bun:test";
import { csvText, renderCsv } from "../../../cli/format/csv.ts";

describe("comma-separated values", () => {
  test("end every line with CR LF and begin with the names of the columns", () => {
    expect(renderCsv(["a", "b"], [["1", "-2.000000"]])).toBe("a,b\r\n1,-2.000000\r\n");
    expect(renderCsv(["a", "b"], [])).toBe("a,b\r\n");
  });

  test.each([
    ["a,b", '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ["a\nb", '"a\nb"'],
    ["a\rb", '"a\rb"'],
    [" a", '" a"'],
    ["", ""],
    ["grün", "grün"],
  ])("quote %j where the format needs it", (cell, expected) => {
    expect(renderCsv(["x"], [[cell]])).toBe(`x\r\n${expected}\r\n`);
  });
});

describe("text that somebody chose", () => {
  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])(
    "is no formula of a spreadsheet: %j",
    (text) => {
      expect(csvText(text)).toBe(`'${text}`);
    },
  );

  test.each(["web", "a=b", "1+1", "'=1", "", "a@example.com"])(
    "stays as it is where it is none: %j",
    (text) => {
      expect(csvText(text)).toBe(text);
    },
  );
});
