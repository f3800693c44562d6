import { expect, test } from "bun:test";
import { jsonFault } from "../../src/toolkit/json-fault.ts";

test.each([
  ['{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma or } is expected"],
  ['{"a": 1,}', "line 1, column 9: a name in double quotes is expected"],
  ["{a: 1}", "line 1, column 2: a name in double quotes, or } is expected"],
  ['{"a" 1}', "line 1, column 6: a colon is expected"],
  ['{"a": it}', "line 1, column 7: a value is expected"],
  ["[1 2]", "line 1, column 4: a comma or ] is expected"],
  ["[1,]", "line 1, column 4: a value is expected"],
  ['{"a": 1} x', "line 1, column 10: nothing more is expected"],
  ['{"a": "no end', "line 1, column 7: a value is expected"],
  ["", "line 1, column 1: a value is expected"],
])("%j: %s", (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
  expect(() => JSON.parse(text)).toThrow();
});

test.each(["1", ' {"a": [1, -2.5e3, "\\u00e9\\n", true, null, {}, []]}\n', '"x"'])("%j is JSON", (text) => {
  expect(jsonFault(text)).toBe("");
  JSON.parse(text);
});
