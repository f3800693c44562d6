import { expect, test } from "bun:test";
import fc from "fast-check";
import { fitCells, oneLine, wrapCells } from "../../../cli/tui/kit/cells.ts";
import { keysOf } from "../../../cli/tui/kit/keys.ts";
import { sparkline } from "../../../cli/tui/kit/sparkline.ts";
import { sizeOf } from "../../../cli/tui/kit/terminal.ts";
import { windowStart } from "../../../cli/tui/kit/window.ts";

test("a line shows control characters and marks of direction instead of doing what they say", () => {
  expect(oneLine("a\u001b[2Jb\u009bc\u202ed")).toBe("a\\u001b[2Jb\\u009bc\\u202ed");
  expect(oneLine("first\r\nsecond\tthird")).toBe("first second third");
});

test("a line holds nothing whose width terminals disagree about", () => {
  expect(oneLine("👩‍👩‍👧 👍🏽 ❤️ 🇩🇪 a\u200bb")).toBe("👩👩👧 👍 ❤ DE ab");
  expect(oneLine("z\u0300\u0301\u0302\u0303\u0304\u0305")).toBe("z\u0300\u0301\u0302");
});

test("cells are cut and filled to their width, whatever they hold", () => {
  expect(fitCells("lighthouse", 6)).toBe("light…");
  expect(fitCells("灯台と海", 6)).toBe("灯台… ");
  expect(fitCells("12", 4, "right")).toBe("  12");
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 40 }), (given, width) => {
      expect(Bun.stringWidth(fitCells(given, width))).toBe(width);
    }),
  );
});

test("long text is wrapped between words, and its last line says that there is more", () => {
  expect(wrapCells("a lighthouse at dusk", 12, 3)).toEqual(["a lighthouse", "at dusk"]);
  expect(wrapCells("a lighthouse\nat dusk", 20, 3)).toEqual(["a lighthouse", "at dusk"]);
  expect(wrapCells("灯台と海の絵", 5, 9)).toEqual(["灯台", "と海", "の絵"]);
  expect(wrapCells("one two three four", 9, 2)).toEqual(["one two", "three …"]);
  const long = wrapCells("word ".repeat(6_400), 20, 4);
  expect(long).toHaveLength(4);
  expect(long.at(-1)).toEndWith("…");
});

test("the highest value of a sparkline is its highest bar, and nothing is its lowest", () => {
  expect(sparkline([0, 1, 4, 8], 4)).toBe("▁▂▅█");
  expect(sparkline([0, 0], 4)).toBe("▁▁▁▁");
  expect(sparkline([9, 1, 2], 2)).toBe("▅█");
  expect(sparkline([], 0)).toBe("");
});

test("a window moves no further than its selected row needs", () => {
  const list = { count: 100, height: 10 };
  expect(windowStart({ ...list, selected: 5, start: 0 })).toBe(0);
  expect(windowStart({ ...list, selected: 12, start: 0 })).toBe(3);
  expect(windowStart({ ...list, selected: 12, start: 8 })).toBe(8);
  expect(windowStart({ ...list, selected: 7, start: 8 })).toBe(7);
  expect(windowStart({ ...list, selected: 99, start: 95 })).toBe(90);
  expect(windowStart({ count: 3, height: 10, selected: 2, start: 5 })).toBe(0);
});

test("a piece of input is all of its keys, by name", () => {
  expect(keysOf("jj\rG", {})).toEqual(["j", "j", "enter", "G"]);
  expect(keysOf("", { upArrow: true })).toEqual(["up"]);
  expect(keysOf("", { tab: true, shift: true })).toEqual(["shift+tab"]);
  expect(keysOf("c", { ctrl: true })).toEqual(["ctrl+c"]);
  expect(keysOf("x", { meta: true })).toEqual([]);
  expect(keysOf("q", { eventType: "release" })).toEqual([]);
});

test("a terminal without a size is 80×24, and none is larger than there are screens", () => {
  expect(sizeOf({})).toEqual({ columns: 80, rows: 24 });
  expect(sizeOf({ columns: 0, rows: 0 })).toEqual({ columns: 80, rows: 24 });
  expect(sizeOf({ columns: 1, rows: 1 })).toEqual({ columns: 1, rows: 1 });
  expect(sizeOf({ columns: 65_535, rows: 65_535 })).toEqual({ columns: 1_000, rows: 400 });
});
